#include "config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace kepler::config {
namespace {

using std::chrono::hours;
using std::string_view_literals::operator""sv;

constexpr std::array kLogLevels = {"debug"sv, "info"sv, "warn"sv, "error"sv};
constexpr std::array kLogFormats = {"text"sv, "json"sv};
constexpr std::array kMeters = {"rapl"sv, "hwmon"sv, "fake"sv};
constexpr std::array kActivitySources = {"auto"sv, "bpf"sv, "procfs"sv};
constexpr std::array kCounters = {"off"sv, "hardware"sv, "software"sv};
constexpr std::array kWeights = {"cpu-time"sv, "counters"sv};
constexpr std::array kRatios = {"proc-stat"sv, "exact"sv};
constexpr std::array kDebugCollectors = {"go"sv, "process"sv};
constexpr std::array kInformerModes = {"kubelet"sv, "apiserver"sv};
constexpr int64_t kDay = Duration(hours(24)).count();
constexpr int64_t kShortestInterval = Duration(std::chrono::milliseconds(10)).count();  // a tick must end in it
constexpr int64_t kHour = Duration(hours(1)).count();

constexpr std::array kLevels = {Level{"node", kLevelNode}, Level{"process", kLevelProcess},
                                Level{"container", kLevelContainer}, Level{"vm", kLevelVm}, Level{"pod", kLevelPod}};

constexpr std::string_view kNoProfiles = "there is no Go runtime to profile; perf shows where time goes";
constexpr std::string_view kNoPodNames = "pods go by the UID in their cgroup paths";
constexpr std::string_view kNoBmcs = "BMCs are not read";
constexpr std::string_view kNoGpus = "GPUs are not read";

constexpr std::array kKeys = {
    Key{.path = "log.level",
        .flag = "log.level",
        .help = "Log messages of this level and above",
        .choices = kLogLevels,
        .field = [](Config& c) -> Field { return &c.log.level; }},
    Key{.path = "log.format",
        .flag = "log.format",
        .help = "Form of the log lines",
        .choices = kLogFormats,
        .field = [](Config& c) -> Field { return &c.log.format; }},
    Key{.path = "host.sysfs",
        .flag = "host.sysfs",
        .help = "Directory where the host's sysfs is mounted",
        .is_path = true,
        .field = [](Config& c) -> Field { return &c.host.sysfs; }},
    Key{.path = "host.procfs",
        .flag = "host.procfs",
        .help = "Directory where the host's procfs is mounted",
        .is_path = true,
        .field = [](Config& c) -> Field { return &c.host.procfs; }},
    Key{.path = "monitor.interval",
        .flag = "monitor.interval",
        .help = "Time between two measurements; 0: only when somebody asks",
        .least = 0,
        .most = kDay,
        .least_above_zero = kShortestInterval,
        .field = [](Config& c) -> Field { return &c.monitor.interval; }},
    Key{.path = "monitor.staleness",
        .help = "A reader that finds the last measurement older than this causes a new one",
        .least = 0,
        .most = kDay,
        .field = [](Config& c) -> Field { return &c.monitor.staleness; }},
    Key{.path = "monitor.maxTerminated",
        .flag = "monitor.max-terminated",
        .help = "Ended workloads that stay listed, those with most energy first; 0: none, negative: 100,000",
        .field = [](Config& c) -> Field { return &c.monitor.max_terminated; }},
    Key{.path = "monitor.minTerminatedEnergyThreshold",
        .help = "What an ended workload must have used to stay listed",
        .unit = "joules",
        .least = 0,
        .most = 1'000'000'000'000,
        .field = [](Config& c) -> Field { return &c.monitor.min_terminated_energy_threshold; }},
    Key{.path = "monitor.terminatedRetention",
        .help = "How long an ended workload stays listed; longer than the slowest reader's scrape interval",
        .least = 0,
        .most = kDay,
        .field = [](Config& c) -> Field { return &c.monitor.terminated_retention; }},
    Key{.path = "cpu.preferredMeters",
        .help = "CPU meters to use, best first",
        .choices = kMeters,
        .field = [](Config& c) -> Field { return &c.cpu.preferred_meters; }},
    Key{.path = "rapl.zones",
        .help = "RAPL zones to read, in any case (package, core, dram, psys, ...); empty: all, but on AMD the core "
                "zone, whose "
                "counter covers one core only",
        .field = [](Config& c) -> Field { return &c.rapl.zones; }},
    Key{.path = "meter.require",
        .flag = "meter.require",
        .help = "Stop at the start where no meter is found, instead of running without energy or with a model",
        .field = [](Config& c) -> Field { return &c.meter.require; }},
    Key{.path = "activity.source",
        .flag = "activity.source",
        .help = "Where CPU time of processes is read; auto takes the best that works",
        .choices = kActivitySources,
        .field = [](Config& c) -> Field { return &c.activity.source; }},
    Key{.path = "activity.counters",
        .flag = "activity.counters",
        .help =
            "Count cycles, instructions and cache misses of processes, which needs bpf; software: events of the kernel "
            "in their place, for tests",
        .choices = kCounters,
        .field = [](Config& c) -> Field { return &c.activity.counters; }},
    Key{.path = "attribution.weights",
        .flag = "attribution.weights",
        .help =
            "What splits active energy; counters: cache misses for dram, a fitted mix of cycles and instructions for "
            "the other zones, and with activity.counters off it means hardware",
        .choices = kWeights,
        .field = [](Config& c) -> Field { return &c.attribution.weights; }},
    Key{.path = "attribution.ratio",
        .flag = "attribution.ratio",
        .help = "How the active part of energy is found; proc-stat: from the kernel's timer ticks, exact: from the "
                "nanoseconds that ran",
        .choices = kRatios,
        .field = [](Config& c) -> Field { return &c.attribution.ratio; }},
    Key{.path = "exporter.stdout.enabled",
        .flag = "exporter.stdout",
        .help = "Print a table of the node's power; the log goes to stderr then",
        .field = [](Config& c) -> Field { return &c.exporter.stdout_exporter.enabled; }},
    Key{.path = "exporter.stdout.top",
        .flag = "exporter.stdout.top",
        .help = "Processes, containers and VMs listed below that table, so many of each, those with most power first",
        .least = 0,
        .most = 1'000'000,
        .field = [](Config& c) -> Field { return &c.exporter.stdout_exporter.top; }},
    Key{.path = "exporter.prometheus.enabled",
        .flag = "exporter.prometheus",
        .help = "Serve /metrics",
        .field = [](Config& c) -> Field { return &c.exporter.prometheus.enabled; }},
    Key{.path = "exporter.prometheus.debugCollectors",
        .help = "Metrics about the agent itself: process; go is accepted and adds nothing",
        .choices = kDebugCollectors,
        .field = [](Config& c) -> Field { return &c.exporter.prometheus.debug_collectors; }},
    Key{.path = "exporter.prometheus.metricsLevel",
        .flag = "metrics",
        .help = "Levels to export: node, process, container, vm, pod, or all",
        .field = [](Config& c) -> Field { return &c.exporter.prometheus.metrics_level; }},
    Key{.path = "web.configFile",
        .flag = "web.config-file",
        .alias = "web.config.file",
        .help = "Web configuration file of the Prometheus exporters (TLS, basic authentication)",
        .is_path = true,
        .field = [](Config& c) -> Field { return &c.web.config_file; }},
    Key{.path = "web.listenAddresses",
        .flag = "web.listen-address",
        .help = "Addresses to serve on: host:port, :port or [ipv6]:port",
        .field = [](Config& c) -> Field { return &c.web.listen_addresses; }},
    Key{.path = "debug.pprof.enabled",
        .flag = "debug.pprof",
        .help = "Serve profiles under /debug/pprof/",
        .missing = kNoProfiles,
        .field = [](Config& c) -> Field { return &c.debug.pprof_enabled; }},
    Key{.path = "kube.enabled",
        .flag = "kube.enable",
        .help = "Name pods through Kubernetes",
        .missing = kNoPodNames,
        .field = [](Config& c) -> Field { return &c.kube.enabled; }},
    Key{.path = "kube.config",
        .flag = "kube.config",
        .help = "Kubeconfig file; empty: the pod's service account",
        .missing = kNoPodNames,
        .is_path = true,
        .field = [](Config& c) -> Field { return &c.kube.config; }},
    Key{.path = "kube.nodeName",
        .flag = "kube.node-name",
        .help = "Name of this node, required with kube.enabled; otherwise the host name stands in",
        .field = [](Config& c) -> Field { return &c.kube.node_name; }},
    Key{.path = "kube.podInformer.mode",
        .help = "Whom to ask for the pods of this node",
        .missing = kNoPodNames,
        .choices = kInformerModes,
        .field = [](Config& c) -> Field { return &c.kube.pod_informer.mode; }},
    Key{.path = "kube.podInformer.pollInterval",
        .help = "Time between two questions to the kubelet; 0: the default",
        .missing = kNoPodNames,
        .least = 0,
        .most = kDay,
        .field = [](Config& c) -> Field { return &c.kube.pod_informer.poll_interval; }},
    Key{.path = "dev.fake-cpu-meter.enabled",
        .help = "Deprecated: set cpu.preferredMeters to [fake]",
        .field = [](Config& c) -> Field { return &c.fake_cpu_meter.enabled; }},
    Key{.path = "dev.fake-cpu-meter.zones",
        .help = "Zones of the fake meter; empty: package, core, dram",
        .field = [](Config& c) -> Field { return &c.fake_cpu_meter.zones; }},
    Key{.path = "experimental.platform.redfish.enabled",
        .flag = "experimental.platform.redfish.enabled",
        .help = "Read the power of the whole machine from its BMC",
        .missing = kNoBmcs,
        .field = [](Config& c) -> Field { return &c.experimental.redfish.enabled; }},
    Key{.path = "experimental.platform.redfish.nodeName",
        .flag = "experimental.platform.redfish.node-name",
        .help = "This node's name in the BMC file; empty: kube.nodeName, then the host name",
        .missing = kNoBmcs,
        .field = [](Config& c) -> Field { return &c.experimental.redfish.node_name; }},
    Key{.path = "experimental.platform.redfish.configFile",
        .flag = "experimental.platform.redfish.config-file",
        .help = "File that names the BMCs and their credentials; required with redfish.enabled",
        .missing = kNoBmcs,
        .is_path = true,
        .field = [](Config& c) -> Field { return &c.experimental.redfish.config_file; }},
    Key{.path = "experimental.platform.redfish.httpTimeout",
        .help = "Longest wait for one answer of a BMC; 0: the default",
        .missing = kNoBmcs,
        .least = 0,
        .most = kHour,
        .field = [](Config& c) -> Field { return &c.experimental.redfish.http_timeout; }},
    Key{.path = "experimental.hwmon.forceEnabled",
        .flag = "experimental.hwmon.force-enabled",
        .help = "Deprecated: set cpu.preferredMeters to [hwmon]",
        .field = [](Config& c) -> Field { return &c.experimental.hwmon.force_enabled; }},
    Key{.path = "experimental.hwmon.zones",
        .flag = "experimental.hwmon.zones",
        .help = "hwmon sensors to read, by label, of whichever chip; empty: all of the chips that count as CPU",
        .field = [](Config& c) -> Field { return &c.experimental.hwmon.zones; }},
    Key{.path = "experimental.hwmon.chips",
        .help =
            "hwmon chips that count as CPU, beside those with a rule in chipRules; empty: power_meter, zenpower, "
            "amd_energy, "
            "fam15h_power, scmi_sensors, scmi_hwmon, apm_xgene, xgene_hwmon, xgene, ibmpowernv, and all whose names "
            "begin with ina, ltc, adm1, max, tps, ir3, xdpe, mp2, mp5, ucd9, pmbus, lm250, isl, raa",
        .field = [](Config& c) -> Field { return &c.experimental.hwmon.chips; }},
    Key{.path = "experimental.hwmon.chipRules",
        .help = "How voltages and currents of a chip belong together",
        .field = [](Config& c) -> Field { return &c.experimental.hwmon.chip_rules; }},
    Key{.path = "experimental.gpu.enabled",
        .flag = "experimental.gpu.enabled",
        .help = "Read the GPUs",
        .missing = kNoGpus,
        .field = [](Config& c) -> Field { return &c.experimental.gpu.enabled; }},
    Key{.path = "experimental.gpu.idlePower",
        .flag = "experimental.gpu.idle-power",
        .help = "Power of an idle GPU; 0: the least that was seen",
        .missing = kNoGpus,
        .unit = "watts",
        .least = 0,
        .most = 1'000'000,
        .field = [](Config& c) -> Field { return &c.experimental.gpu.idle_power; }},
    Key{.path = "experimental.gpu.dcgmEndpoint",
        .flag = "experimental.gpu.dcgm-endpoint",
        .help = "URL of a dcgm-exporter, for GPUs that are split (MIG)",
        .missing = kNoGpus,
        .field = [](Config& c) -> Field { return &c.experimental.gpu.dcgm_endpoint; }},
};

}  // namespace

std::span<const Key> Keys() { return kKeys; }

size_t KeyIndex(std::string_view path) {
  const auto it = std::ranges::find(kKeys, path, &Key::path);
  if (it == kKeys.end()) std::abort();
  return static_cast<size_t>(it - kKeys.begin());
}

std::string Meaning(const Key& key) {
  if (key.missing.empty()) return std::string(key.help);
  return fmt::format("{}; not in this version: {}", key.help, key.missing);
}

std::vector<std::string> MissingFeatures(const Config& config) {
  Config copy = config;
  std::vector<std::string> missing;
  for (const Key& key : Keys()) {
    const Field field = key.field(copy);
    const bool* const* on = std::get_if<bool*>(&field);
    if (!key.missing.empty() && on != nullptr && **on) missing.push_back(fmt::format("{}: {}", key.path, key.missing));
  }
  return missing;
}

std::vector<std::string_view> ChangedKeys(const Config& before, const Config& after) {
  Config left = before;
  Config right = after;
  std::vector<std::string_view> changed;
  for (const Key& key : Keys()) {
    const Field other = key.field(right);
    const auto same = [&]<class Value>(Value* value) { return *value == *std::get<Value*>(other); };
    if (!std::visit(same, key.field(left))) changed.push_back(key.path);
  }
  return changed;
}

std::span<const Level> Levels() { return kLevels; }

std::string_view TypeName(const Key& key) {
  Config config;
  struct Namer {
    std::string_view operator()(bool*) const { return "boolean"; }
    std::string_view operator()(int64_t*) const { return "whole number"; }
    std::string_view operator()(double*) const { return "number"; }
    std::string_view operator()(Duration*) const { return "duration"; }
    std::string_view operator()(std::string*) const { return "text"; }
    std::string_view operator()(Strings*) const { return "list"; }
    std::string_view operator()(uint32_t*) const { return "level or list"; }
    std::string_view operator()(ChipRules*) const { return "list of blocks"; }
  };
  return std::visit(Namer{}, key.field(config));
}

bool IsBool(const Key& key) {
  Config config;
  return std::holds_alternative<bool*>(key.field(config));
}

bool IsList(const Key& key) {
  Config config;
  const Field field = key.field(config);
  return std::holds_alternative<Strings*>(field) || std::holds_alternative<uint32_t*>(field) ||
         std::holds_alternative<ChipRules*>(field);
}

}  // namespace kepler::config
