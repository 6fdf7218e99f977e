#include "energy/rapl/rapl_interfaces.h"

#include <utility>

#include "energy/rapl/msr_source.h"
#include "energy/rapl/perf_source.h"
#include "energy/rapl/powercap_source.h"

namespace kepler::energy::rapl {
namespace {

std::string RefusePerf(const RaplOptions& options) {
  if (!options.is_guest || options.perf_force) return {};
  return "not tried in a virtual machine; set rapl.perf.force to try it";
}

std::string RefuseMsr(const RaplOptions& options) {
  if (!options.msr_enabled) return "not enabled; set rapl.msr.enabled to try it";
  if (!options.is_guest || options.msr_force) return {};
  return "not tried in a virtual machine; set rapl.msr.force to try it";
}

}  // namespace

std::vector<RaplInterface> ListRaplInterfaces(const RaplOptions& options, const Clock& clock) {
  RaplInterface powercap{.name = "powercap", .make = [options, &clock] {
                           return std::make_unique<PowercapSource>(options.sysfs, options.zones, clock);
                         }};
  RaplInterface perf{.name = "perf",
                     .make =
                         [options, &clock] {
                           return std::make_unique<PerfSource>(options.sysfs, options.zones, options.perf_opener,
                                                               clock);
                         },
                     .refusal = RefusePerf(options)};
  RaplInterface msr{.name = "msr",
                    .make =
                        [options, &clock] {
                          return std::make_unique<MsrSource>(options.sysfs, options.zones,
                                                             options.msr_device_path + "/%d/msr", clock);
                        },
                    .refusal = RefuseMsr(options),
                    .warning =
                        "an attacker who takes over the agent can read and write registers of the processor; energy "
                        "values may reveal secrets (CVE-2020-8694): restrict who can read /metrics"};
  std::vector<RaplInterface> all;
  const bool perf_first = options.perf_force;
  const bool msr_first = options.msr_force && options.msr_enabled;
  if (perf_first) all.push_back(perf);
  if (msr_first) all.push_back(msr);
  all.push_back(std::move(powercap));
  if (!perf_first) all.push_back(std::move(perf));
  if (!msr_first) all.push_back(std::move(msr));
  return all;
}

}  // namespace kepler::energy::rapl
