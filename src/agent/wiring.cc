#include "agent/wiring.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "activity/bpf/bpf_source.h"
#include "activity/fallback_source.h"
#include "activity/procfs/procfs_source.h"
#include "base/text.h"
#include "energy/hwmon/hwmon_source.h"
#include "energy/modeled/model_source.h"
#include "energy/rapl/powercap_source.h"
#include "energy/simulated/simulated_source.h"
#include "os/time_accounting.h"

namespace kepler::agent {
namespace {

energy::hwmon::HwmonOptions MakeHwmonOptions(const config::Hwmon& hwmon) {
  energy::hwmon::HwmonOptions options;
  options.zones = hwmon.zones;
  options.chips = hwmon.chips;
  for (const config::ChipRule& rule : hwmon.chip_rules)
    options.chip_rules.push_back(
        {rule.name, rule.pairings, rule.skip_voltages, rule.skip_currents, rule.use_same_index});
  return options;
}

std::string SecondsText(Nanoseconds time) { return fmt::format("{:.1f}", std::chrono::duration<double>(time).count()); }

std::unique_ptr<energy::EnergySource> MakeMeter(const std::string& name, const config::Config& config,
                                                const Clock& clock) {
  const config::Host& host = config.host;
  if (name == "rapl") return std::make_unique<energy::rapl::PowercapSource>(host.sysfs, config.rapl.zones, clock);
  if (name == "hwmon")
    return std::make_unique<energy::hwmon::HwmonSource>(host.sysfs, MakeHwmonOptions(config.experimental.hwmon), clock);
  return std::make_unique<energy::simulated::SimulatedSource>(host.sysfs, host.procfs, config.fake_cpu_meter.zones,
                                                              clock);
}

TimeAccounting ReadTimeAccounting(const config::Host& host) {
  const auto accounting = os::ReadTimeAccounting({host.procfs, host.sysfs});
  if (accounting) return *accounting;
  log::Info(
      "the kernel does not say whether stolen time and interrupts are in the CPU time of tasks: taken as if they "
      "were; mount the host's /boot to know",
      {{"err", accounting.error().message}});
  return {};
}

std::unique_ptr<activity::ActivitySource> MakeProcfs(const config::Host& host, TimeAccounting time, const Clock& clock,
                                                     const activity::Handover& before) {
  return std::make_unique<activity::procfs::ProcfsSource>(
      activity::procfs::ProcfsOptions{host.procfs, host.sysfs, time, before}, clock);
}

activity::bpf::BpfOptions MakeBpfOptions(const config::Config& config, TimeAccounting time) {
  using activity::bpf::CounterKind;
  const std::string& counters = config.activity.counters;
  return {.procfs = config.host.procfs,
          .sysfs = config.host.sysfs,
          .counters = counters == "hardware"   ? CounterKind::kHardware
                      : counters == "software" ? CounterKind::kSoftware
                                               : CounterKind::kOff,
          .time = time};
}

}  // namespace

Result<std::unique_ptr<energy::MeterSet>> MakeMeters(const config::Config& config, const Clock& clock) {
  std::vector<std::unique_ptr<energy::EnergySource>> sources;
  sources.reserve(config.cpu.preferred_meters.size() + 1);
  for (const std::string& name : config.cpu.preferred_meters) sources.push_back(MakeMeter(name, config, clock));
  if (!config.meter.require)
    sources.push_back(std::make_unique<energy::modeled::ModelSource>(config.host.procfs, clock));
  auto meters = std::make_unique<energy::MeterSelector>(std::move(sources), clock);
  if (const Status opened = meters->Open(); !opened)
    return Fail(opened.error().kind,
                opened.error().message + (config.meter.require ? "; load the meter's driver, or start without "
                                                                 "--meter.require to let the power model estimate"
                                                               : ""));
  if (meters->current().status().name == "model") {
    const std::string cause = meters->FailureText();
    log::Warn("no meter can be read: energy is estimated by the power model",
              {{"zone", "package"},
               {"path", "model"},
               {"err", cause.empty() ? "cpu.preferredMeters names none" : cause},
               {"to_forbid", "--meter.require"}});
  }
  const auto longest = meters->current().longest_interval();
  if (longest && config.monitor.interval > *longest)
    log::Warn("monitor.interval is longer than an energy counter may take to wrap: what passes unseen is not counted",
              {{"interval_s", SecondsText(config.monitor.interval)},
               {"longest_s", SecondsText(*longest)},
               {"action", "shorten it; kepler_source_unknown_wraps_total counts the readings that came too late"}});
  return std::make_unique<energy::MeterSet>(std::move(meters), clock);
}

Result<std::unique_ptr<activity::ActivitySource>> MakeActivity(const config::Config& config, const Clock& clock) {
  const std::string& wanted = config.activity.source;
  const TimeAccounting time = ReadTimeAccounting(config.host);
  if (wanted != "procfs") {
    auto bpf = activity::bpf::BpfSource::Create(MakeBpfOptions(config, time), clock);
    if (bpf) {
      // Whatever was asked for: no fault stops an agent that runs.
      const auto fall_back = [host = config.host, time, &clock](const activity::Handover& before) {
        return MakeProcfs(host, time, clock, before);
      };
      return std::make_unique<activity::FallbackSource>(*std::move(bpf), fall_back, clock);
    }
    if (wanted == "bpf")
      return Fail(bpf.error().kind, "activity.source: bpf: " + bpf.error().message +
                                        "; start with --activity.source=auto to read /proc instead");
    log::Warn(
        "BPF cannot be used, CPU time is read from /proc: what comes and goes between two looks is known by its cgroup "
        "only",
        {{"err", bpf.error().message}});
  }
  return MakeProcfs(config.host, time, clock, {});
}

attribution::RetentionPolicy MakeRetention(const config::Config& config) {
  static_assert(attribution::RetentionPolicy::kMaxEver == 100'000, "monitor.maxTerminated's help says so");
  return {config.monitor.terminated_retention, Energy::Joules(config.monitor.min_terminated_energy_threshold),
          config.monitor.max_terminated};
}

pipeline::SplitOptions MakeSplit(const config::Config& config) {
  using snapshot::RatioMethod;
  const config::Attribution& wanted = config.attribution;
  return {wanted.weights == "counters" ? pipeline::CpuWeights::kCounters : pipeline::CpuWeights::kTime,
          wanted.ratio == "exact" ? RatioMethod::kExact : RatioMethod::kProcStat};
}

pipeline::Freshness MakeFreshness(const config::Config& config) {
  return {config.monitor.interval, config.monitor.staleness};
}

prometheus::RenderOptions MakeRenderOptions(const config::Config& config, const BuildInfo& build) {
  static_assert(uint32_t{config::kLevelNode} == prometheus::kNode &&
                uint32_t{config::kLevelProcess} == prometheus::kProcess &&
                uint32_t{config::kLevelContainer} == prometheus::kContainer &&
                uint32_t{config::kLevelVm} == prometheus::kVm && uint32_t{config::kLevelPod} == prometheus::kPod);
  return {LabelText(config.kube.node_name), config.exporter.prometheus.metrics_level, build};
}

log::Level LogLevel(const config::Config& config) {
  if (config.log.level == "debug") return log::Level::kDebug;
  if (config.log.level == "warn") return log::Level::kWarn;
  if (config.log.level == "error") return log::Level::kError;
  return log::Level::kInfo;
}

void ConfigureLog(const config::Config& config) {
  log::Configure(LogLevel(config), config.log.format == "json" ? log::Format::kJson : log::Format::kText,
                 config.exporter.stdout_exporter.enabled ? log::Stream::kStderr : log::Stream::kStdout);
}

}  // namespace kepler::agent
