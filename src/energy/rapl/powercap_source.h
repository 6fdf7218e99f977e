#pragma once
// PowercapSource: reads RAPL counters from <sysfs>/class/powercap/*/energy_uj. Works for Intel and AMD (the kernel
// calls both "intel-rapl"), and for other drivers that register a name and an energy counter there.
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "energy/energy_source.h"
#include "energy/rapl/counter_layout.h"
#include "energy/rapl/die_mirrors.h"
#include "energy/rapl/powercap_tree.h"
#include "os/cpu_topology.h"
#include "os/file.h"

namespace kepler::energy::rapl {

class PowercapSource final : public EnergySource {
 public:
  /// `zones`: base names to use ("package", not "package-0"; case and surrounding spaces are ignored); empty: all.
  /// `clock` must outlive the source.
  PowercapSource(std::string sysfs, const std::vector<std::string>& zones, const Clock& clock);

  [[nodiscard]] std::string_view Name() const override { return "rapl"; }
  [[nodiscard]] status::Domain domain() const override { return status::Domain::kCpu; }
  [[nodiscard]] Authority authority() const override { return Authority::kMeasured; }
  /// Without `zones`, AMD's "core" zone is not used, because it measures a single core. Fails if there is no zone, if
  /// `zones` selects none (the error lists the existing zones), or if all counters are unreadable (since Linux 5.10
  /// only root may read energy_uj).
  [[nodiscard]] Result<std::vector<Domain>> Discover() override;
  /// Withholds dies that mirror the counter of their package (die_mirrors.h).
  void Read(std::vector<DomainReading>& out) override;
  void UpdateMaxPower(size_t index, Domain& domain) override;
  /// Returns true if the directory names have changed, or if the range of a counter has become known.
  [[nodiscard]] bool HasChanged() override;
  /// Checks the CPUs of the domain's socket or die. Returns false for a zone without a socket number ("psys").
  [[nodiscard]] bool IsOffline(const Domain& domain) override;

 private:
  [[nodiscard]] Status CheckReadable(const std::vector<PowercapZone>& zones);
  void SayLeftOut(const Error& problem);
  [[nodiscard]] Status LeaveOutFaulted(std::vector<PowercapZone>& zones);
  [[nodiscard]] Answer ReadCounter(size_t index);

  std::string sysfs_;
  ZoneChoice wanted_;
  const Clock& clock_;
  std::vector<PowercapZone> zones_;           // in the order of the last Discover()
  std::vector<std::string> listed_;           // directory names of the last Discover()
  std::vector<std::string> faulted_;          // paths of all zones with an unknown range at that time
  std::map<std::string, os::CpuPart> parts_;  // of all zones found so far, by the key of the domain
  os::CpuTopology topology_;
  DieMirrors mirrors_;
  os::ReadBuffer buffer_;
  log::LogLimiter limiter_;
  bool core_is_said_ = false;
};

}  // namespace kepler::energy::rapl
