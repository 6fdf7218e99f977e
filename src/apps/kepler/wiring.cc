#include "apps/kepler/wiring.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "activity/bpf/bpf_source.h"
#include "activity/fallback_source.h"
#include "activity/procfs/procfs_source.h"
#include "apps/kepler/platform_wiring.h"
#include "cgroup/memory_limit.h"
#include "energy/hwmon/hwmon_source.h"
#include "energy/modeled/model_source.h"
#include "energy/rapl/rapl_source.h"
#include "energy/simulated/simulated_source.h"
#include "os/read_time_accounting.h"
#include "os/virtual_machine.h"

namespace kepler::agent {
namespace {

std::string SecondsText(Nanoseconds time) { return fmt::format("{:.1f}", std::chrono::duration<double>(time).count()); }

std::unique_ptr<energy::EnergySource> MakeRapl(const Config& config, const Clock& clock) {
  auto options = config.rapl;
  options.sysfs = config.host.sysfs;
  options.is_guest = os::IsVirtualMachine(config.host.procfs, config.host.sysfs);
  return std::make_unique<energy::rapl::RaplSource>(energy::rapl::ListRaplInterfaces(options, clock));
}

std::unique_ptr<energy::EnergySource> MakeMeter(Meter meter, const Config& config, const Clock& clock,
                                                const SharedProcStat& proc_stat) {
  const Host& host = config.host;
  switch (meter) {
    case Meter::kRapl:
      return MakeRapl(config, clock);
    case Meter::kHwmon:
      return std::make_unique<energy::hwmon::HwmonSource>(host.sysfs, config.hwmon, clock);
    case Meter::kFake:
      break;
  }
  return std::make_unique<energy::simulated::SimulatedSource>(host.sysfs, proc_stat, config.fake_zones);
}

/// What estimates are made from, and of what.
energy::modeled::ModelSourceOptions MakeEstimate(const Config& config, const Shared& shared) {
  return {.proc_stat = shared.proc_stat,
          .events = shared.events,
          .models = shared.models,
          .machine = shared.machine,
          .only_load = !config.model_guest_idle && shared.machine.is_guest};
}

/// In a guest there are two: the MeterSet opens the one that is comparable with the CPU meter, with idle power or
/// without.
Status AddPlatform(const energy::modeled::ModelSourceOptions& estimate, const Clock& clock, energy::MeterSet& meters) {
  const auto add = [&](bool only_load) {
    auto options = estimate;
    options.only_load = only_load;
    return meters.AddEstimate(
        std::make_unique<energy::modeled::ModelSource>(options, status::Domain::kPlatform, clock));
  };
  if (estimate.only_load) KEPLER_CHECK_OK(add(true));
  return add(false);
}

void SayThatItIsEstimated(const std::string& cause) {
  log::Warn("no energy meter is available, using the power model",
            {{"path", "model"},
             {"err", cause.empty() ? "cpu.preferredMeters is empty" : cause},
             {"to_forbid", "--meter.require"}});
}

TimeAccounting ReadTimeAccounting(const Host& host) {
  const auto accounting = os::ReadTimeAccounting({.procfs = host.procfs});
  if (accounting) return *accounting;
  log::Info(
      "failed to find out whether the CPU time of tasks includes stolen time and interrupts, assuming that it does; "
      "mount the host's /boot",
      {{"err", accounting.error().message}});
  return {};
}

/// Every exporter shows the levels of metricsLevel only.
bool ShowsUsers(const Config& config) { return (config.metrics_level.bits & series::kUser) != 0; }

activity::procfs::ProcfsOptions MakeProcfsOptions(const Config& config, TimeAccounting time,
                                                  const SharedProcStat& proc_stat) {
  return {.procfs = config.host.procfs,
          .sysfs = config.host.sysfs,
          .with_uids = ShowsUsers(config),
          .time = time,
          .proc_stat = proc_stat};
}

activity::bpf::BpfOptions MakeBpfOptions(const Config& config, TimeAccounting time, const SharedProcStat& proc_stat) {
  using activity::bpf::CounterKind;
  const bool counted = config.counters != Counters::kOff;
  return {.procfs = config.host.procfs,
          .sysfs = config.host.sysfs,
          .counters = !counted                 ? CounterKind::kOff
                      : config.software_events ? CounterKind::kSoftware
                                               : CounterKind::kHardware,
          .with_uids = ShowsUsers(config),
          .time = time,
          .proc_stat = proc_stat};
}

}  // namespace

std::vector<std::unique_ptr<energy::EnergySource>> MakeCpuSources(const Config& config, const Clock& clock,
                                                                  const SharedProcStat& proc_stat) {
  std::vector<std::unique_ptr<energy::EnergySource>> sources;
  sources.reserve(config.preferred_meters.size());
  for (const Meter meter : config.preferred_meters) sources.push_back(MakeMeter(meter, config, clock, proc_stat));
  return sources;
}

Result<std::unique_ptr<energy::MeterSet>> MakeMeters(const Config& config, const Clock& clock, const Shared& shared) {
  using energy::modeled::ModelSource;
  using status::Domain;
  auto sources = MakeCpuSources(config, clock, shared.proc_stat);
  const auto estimate = MakeEstimate(config, shared);
  std::unique_ptr<ModelSource> model;
  if (!config.require_meter) model = std::make_unique<ModelSource>(estimate, Domain::kCpu, clock);
  auto cpu = std::make_unique<energy::MeterSelector>(std::move(sources), std::move(model), clock);
  if (const Status opened = cpu->Open(); !opened)
    return Fail(opened.error().kind,
                opened.error().message + (config.require_meter ? "; load the meter's driver, or start without "
                                                                 "--meter.require to use the power model"
                                                               : ""));
  if (cpu->estimate() != nullptr) SayThatItIsEstimated(cpu->FailureText());
  const auto longest = cpu->current().longest_interval();
  if (longest && config.freshness.interval > *longest)
    log::Warn("monitor.interval is longer than the shortest wrap time of an energy counter, so energy may be lost",
              {{"interval_s", SecondsText(config.freshness.interval)},
               {"longest_s", SecondsText(*longest)},
               {"action", "shorten it; kepler_source_unknown_wraps_total counts late readings"}});
  auto meters = std::make_unique<energy::MeterSet>(std::move(cpu), clock);
  KEPLER_CHECK_OK(meters->AddPlatform(std::make_unique<energy::PlatformMeters>(MakePlatformMeters(config), clock)));
  if (config.model_platform && !config.require_meter) KEPLER_CHECK_OK(AddPlatform(estimate, clock, *meters));
  return meters;
}

Result<std::unique_ptr<activity::ActivitySource>> MakeActivity(const Config& config, const Clock& clock,
                                                               const SharedProcStat& proc_stat) {
  const ActivityChoice wanted = config.activity_source;
  const TimeAccounting time = ReadTimeAccounting(config.host);
  const auto make_procfs = [options = MakeProcfsOptions(config, time, proc_stat),
                            &clock](const activity::Handover& before) {
    auto with_before = options;
    with_before.before = before;
    return std::make_unique<activity::procfs::ProcfsSource>(std::move(with_before), clock);
  };
  if (wanted != ActivityChoice::kProcfs) {
    auto bpf = activity::bpf::BpfSource::Create(MakeBpfOptions(config, time, proc_stat), clock);
    if (bpf) {
      // Whatever was asked for: no fault stops an agent that runs.
      return std::make_unique<activity::FallbackSource>(*std::move(bpf), make_procfs, clock);
    }
    if (wanted == ActivityChoice::kBpf)
      return Fail(bpf.error().kind, "activity.source: bpf: " + bpf.error().message +
                                        "; start with --activity.source=auto to read /proc instead");
    log::Warn("BPF is unavailable, using /proc for CPU time; short-lived processes are known by their cgroup only",
              {{"err", bpf.error().message}});
  }
  return make_procfs({});
}

std::unique_ptr<workload::kubernetes::Informer> MakeInformer(const Config& config, const Clock& clock) {
  namespace kubernetes = workload::kubernetes;
  if (!config.kube_enabled) return nullptr;
  const auto find = [path = config.kube_config, ca = config.kubelet_ca_file]() -> Result<kubernetes::ClusterAccess> {
    KEPLER_TRY(auto access, path.empty() ? kubernetes::InClusterAccess() : kubernetes::ReadKubeconfig(path));
    if (!ca.empty()) {
      KEPLER_TRY(access.kubelet_ca, kubernetes::ReadAuthority(ca));
    }
    return access;
  };
  kubernetes::InformerOptions options{
      .node = {.node_name = config.node_name,
               .verify_kubelet = !config.kubelet_insecure,
               .asked = {.labels = config.pod_labels, .annotations = config.pod_annotations},
               .max_name_bytes = kubernetes::NameBytesFor(cgroup::ReadMemoryLimit())},
      .mode = config.informer_mode,
      .interval = config.informer_poll_interval};
  return std::make_unique<kubernetes::Informer>(find, std::move(options), clock);
}

attribution::RetentionPolicy MakeRetention(const Config& config) {
  static_assert(attribution::RetentionPolicy::kMaxEver == 100'000, "the help of monitor.maxTerminated has this number");
  return {config.terminated_retention, Energy::Joules(config.min_terminated_joules), config.max_terminated,
          config.exact_totals};
}

pipeline::SeriesLimits MakeLimits(const Config& config) {
  const Limits& limits = config.limits;
  return {
      .processes = {static_cast<size_t>(limits.max_processes), Power::Watts(limits.min_watts), limits.kernel_threads},
      .max_label_bytes = static_cast<size_t>(limits.max_label_length),
      .containers_show_pods = config.labels != series::LabelSet::kV011 || config.names != series::NameSet::kV011,
      .names_users = ShowsUsers(config)};
}

prometheus::RenderOptions MakeRenderOptions(const Config& config, const BuildInfo& build) {
  using Levels = settings::EnumSet<MetricsLevel>;
  static_assert(Levels({MetricsLevel::kNode}).bits == series::kNode &&
                Levels({MetricsLevel::kProcess}).bits == series::kProcess &&
                Levels({MetricsLevel::kContainer}).bits == series::kContainer &&
                Levels({MetricsLevel::kVm}).bits == series::kVm && Levels({MetricsLevel::kPod}).bits == series::kPod &&
                Levels({MetricsLevel::kNamespace}).bits == series::kNamespace &&
                Levels({MetricsLevel::kOwner}).bits == series::kOwner &&
                Levels({MetricsLevel::kUser}).bits == series::kUser);
  std::string node = LabelText(config.node_name);
  return {.node_name = node,
          .selection = {.levels = config.metrics_level.bits,
                        .build = build,
                        .state_label = !config.exact_totals,
                        .names = config.names,
                        .labels = config.labels,
                        .node_name = node},
          .created_lines = config.created_lines};
}

void ConfigureLog(const Config& config) {
  log::Configure(config.log_level, config.log_format,
                 config.stdout_enabled ? log::Stream::kStderr : log::Stream::kStdout);
}

}  // namespace kepler::agent
