#include <array>
#include <chrono>
#include <string_view>

#include "apps/kepler/config.h"

namespace kepler::agent {
namespace {

using energy::hwmon::ChipRule;
using energy::hwmon::HwmonOptions;
using settings::kAt;
using settings::Key;
using std::chrono::hours;
using std::string_view_literals::operator""sv;

// In the order of the enumerators.
constexpr std::array kLogLevels = {"debug"sv, "info"sv, "warn"sv, "error"sv};
constexpr std::array kLogFormats = {"text"sv, "json"sv};
constexpr std::array kMeters = {"rapl"sv, "hwmon"sv, "fake"sv};
constexpr std::array kActivitySources = {"auto"sv, "bpf"sv, "procfs"sv};
constexpr std::array kCounters = {"off"sv, "hardware"sv};
constexpr std::array kWeights = {"cpu-time"sv, "counters"sv, "model"sv};
constexpr std::array kRatios = {"proc-stat"sv, "exact"sv};
constexpr std::array kIdlePolicies = {"ratio"sv, "baseline"sv};
constexpr std::array kKernelThreads = {"each"sv, "one"sv, "none"sv};
constexpr std::array kIdlePayers = {"node"sv, "by-use"sv, "by-request"sv};
constexpr std::array kDebugCollectors = {"go"sv, "process"sv};
constexpr std::array kInformerModes = {"auto"sv, "kubelet"sv, "apiserver"sv};
constexpr std::array kLevels = {"node"sv, "process"sv, "container"sv, "vm"sv, "pod"sv};

constexpr int64_t kDay = Duration(hours(24)).count();
constexpr int64_t kShortestInterval = Duration(std::chrono::milliseconds(10)).count();  // a tick must end in it
constexpr int64_t kSecond = Duration(std::chrono::seconds(1)).count();
constexpr int64_t kMinute = Duration(std::chrono::minutes(1)).count();
constexpr int64_t kHour = Duration(hours(1)).count();
constexpr int64_t kMaxSensorIndex = 1024;

constexpr std::string_view kNoProfiles = "there is no Go runtime to profile; perf shows where time goes";
constexpr std::string_view kNoBmcs = "BMCs are not read";
constexpr std::string_view kNoGpus = "GPUs are not read";

constexpr Key kChipRuleKeys[] = {
    Key("name", "", "Name of the chip, as in its name file; required", kAt<&ChipRule::name>, {.required = true}),
    Key("pairings", "", "Index of a voltage: index of the current that goes with it", kAt<&ChipRule::pairings>,
        {.min = 0, .max = kMaxSensorIndex}),
    Key("skipVoltages", "", "Voltages to leave out", kAt<&ChipRule::skip_voltages>, {.min = 0, .max = kMaxSensorIndex}),
    Key("skipCurrents", "", "Currents to leave out", kAt<&ChipRule::skip_currents>, {.min = 0, .max = kMaxSensorIndex}),
    Key("useSameIndex", "", "Pair every other voltage with the current of the same index",
        kAt<&ChipRule::use_same_index>),
};
constexpr settings::TableOf<ChipRule> kChipRules(kChipRuleKeys);

constexpr Key kKeys[] = {
    Key("log.level", "log.level", "Log messages of this level and above", kAt<&Config::log_level>,
        {.choices = kLogLevels}),
    Key("log.format", "log.format", "Form of the log lines", kAt<&Config::log_format>, {.choices = kLogFormats}),
    Key("host.sysfs", "host.sysfs", "Directory where the host's sysfs is mounted", kAt<&Config::host, &Host::sysfs>,
        {.is_path = true}),
    Key("host.procfs", "host.procfs", "Directory where the host's procfs is mounted", kAt<&Config::host, &Host::procfs>,
        {.is_path = true}),
    Key("monitor.interval", "monitor.interval", "Time between two measurements; 0: only when somebody asks",
        kAt<&Config::freshness, &pipeline::Freshness::interval>,
        {.min = 0, .max = kDay, .min_above_zero = kShortestInterval}),
    Key("monitor.staleness", "", "A reader that finds the last measurement older than this causes a new one",
        kAt<&Config::freshness, &pipeline::Freshness::staleness>, {.min = 0, .max = kDay}),
    Key("monitor.maxTerminated", "monitor.max-terminated",
        "Ended workloads that stay listed, those with most energy first; 0: none, negative: 100,000",
        kAt<&Config::max_terminated>),
    Key("monitor.minTerminatedEnergyThreshold", "", "What an ended workload must have used to stay listed",
        kAt<&Config::min_terminated_joules>, {.unit = "joules", .min = 0, .max = 1'000'000'000'000}),
    Key("monitor.terminatedRetention", "",
        "How long an ended workload stays listed; longer than the slowest reader's scrape interval",
        kAt<&Config::terminated_retention>, {.min = 0, .max = kDay}),
    Key("cpu.preferredMeters", "", "CPU meters to use, best first", kAt<&Config::preferred_meters>,
        {.choices = kMeters}),
    Key("rapl.zones", "",
        "RAPL zones to read, in any case (package, core, dram, psys, ...); empty: all, but on AMD the core zone, whose "
        "counter covers one core only",
        kAt<&Config::rapl_zones>),
    Key("meter.require", "meter.require",
        "Stop at the start where no meter is found, instead of running without energy or with a model",
        kAt<&Config::require_meter>),
    Key("model.sources", "model.sources",
        "Where trained power models are: files, directories and URLs of http or https, each perhaps with #sha256= and "
        "the checksum, or #power=AbsPower or DynPower: whether the watts are all of the machine's or only what load "
        "adds; empty: /usr/share/kepler/models",
        kAt<&Config::model_sources>),
    Key("model.refresh", "model.refresh", "Interval at which models are fetched again from URLs in model.sources",
        kAt<&Config::model_refresh>, {.min = kMinute, .max = kDay}),
    Key("model.cacheDir", "model.cache-dir",
        "Directory that keeps what those URLs gave, for a start at which they cannot be reached; empty: nothing is "
        "kept",
        kAt<&Config::model_cache_dir>, {.is_path = true}),
    Key("model.publicKey", "model.public-key",
        "File with public keys of Ed25519 in PEM, one or several: a model is refused without a signature by one of "
        "them, which is beside the model with .sig behind its name; empty: no signature is asked for",
        kAt<&Config::model_public_key>, {.is_path = true}),
    Key("model.platform", "",
        "Estimate the power of the whole machine, as zone platform, where nothing measures it; meter.require forbids "
        "it",
        kAt<&Config::model_platform>),
    Key("model.guestIdle", "",
        "In a virtual machine, estimate the idle power of its processors too, which it shares with others; else only "
        "what its load adds",
        kAt<&Config::model_guest_idle>),
    Key("activity.source", "activity.source", "Where CPU time of processes is read; auto takes the best that works",
        kAt<&Config::activity_source>, {.choices = kActivitySources}),
    Key("activity.counters", "activity.counters",
        "Count cycles, instructions and cache misses of processes, which needs bpf", kAt<&Config::counters>,
        {.choices = kCounters}),
    Key("attribution.weights", "attribution.weights",
        "What splits active energy; counters: cache misses for dram, a fitted mix of cycles and instructions for the "
        "other zones, and with activity.counters off it means hardware; model: what a trained model of model.sources "
        "says that each feature adds, CPU time where none fits",
        kAt<&Config::split, &pipeline::SplitOptions::weights>, {.choices = kWeights}),
    Key("attribution.ratio", "attribution.ratio",
        "How the active part of energy is found; proc-stat: from the kernel's timer ticks, exact: from the nanoseconds "
        "that ran",
        kAt<&Config::split, &pipeline::SplitOptions::ratio>, {.choices = kRatios}),
    Key("attribution.split", "attribution.split",
        "What of energy is idle; ratio: all but the active part as attribution.ratio finds it, baseline: what a zone "
        "needs without work, at any load, learnt from its power while little runs",
        kAt<&Config::split, &pipeline::SplitOptions::idle>, {.choices = kIdlePolicies}),
    Key("attribution.idle", "attribution.idle",
        "Who pays for idle energy, in metrics of its own; node: nobody else, by-use: who ran, by the time, by-request: "
        "containers, by their requests of processors, and of memory for dram, which needs kube.enabled",
        kAt<&Config::split, &pipeline::SplitOptions::idle_payers>, {.choices = kIdlePayers}),
    Key("exporter.stdout.enabled", "exporter.stdout", "Print a table of the node's power; the log goes to stderr then",
        kAt<&Config::stdout_enabled>),
    Key("exporter.stdout.top", "exporter.stdout.top",
        "Processes, containers and VMs listed below that table, so many of each, those with most power first",
        kAt<&Config::stdout_top>, {.min = 0, .max = 1'000'000}),
    Key("exporter.prometheus.enabled", "exporter.prometheus", "Serve /metrics", kAt<&Config::prometheus_enabled>),
    Key("exporter.prometheus.debugCollectors", "",
        "Metrics about the agent itself: process; go is accepted and adds nothing", kAt<&Config::debug_collectors>,
        {.choices = kDebugCollectors}),
    Key("exporter.prometheus.metricsLevel", "metrics", "Levels to export; also: all", kAt<&Config::metrics_level>,
        {.choices = kLevels}),
    Key("exporter.prometheus.limits.maxProcesses", "",
        "Living processes that have series, those with most power of late; 0: all. What the others use is capped in "
        "kepler_node_cpu_unlisted_joules_total",
        kAt<&Config::limits, &Limits::max_processes>, {.min = 0, .max = 1'000'000}),
    Key("exporter.prometheus.limits.minWatts", "",
        "Power of late that a living process must have for series of its own; 0: none",
        kAt<&Config::limits, &Limits::min_watts>, {.unit = "watts", .min = 0, .max = 1'000'000}),
    Key("exporter.prometheus.limits.kernelThreads", "",
        "Kernel threads outside of containers and pods; one: all together as their parent, kthreadd, beside "
        "maxProcesses and minWatts",
        kAt<&Config::limits, &Limits::kernel_threads>, {.choices = kKernelThreads}),
    Key("exporter.prometheus.limits.maxLabelLength", "",
        "Where names of programs and containers are cut; what identifies is never cut",
        kAt<&Config::limits, &Limits::max_label_length>, {.unit = "bytes", .min = 16, .max = kMaxLabelBytes}),
    Key("web.configFile", "web.config-file",
        "Web configuration file of the Prometheus exporters (TLS, basic authentication)", kAt<&Config::web_config_file>,
        {.alias = "web.config.file", .is_path = true}),
    Key("web.listenAddresses", "web.listen-address", "Addresses to serve on: host:port, :port or [ipv6]:port",
        kAt<&Config::listen_addresses>),
    Key("debug.pprof.enabled", "debug.pprof", "Serve profiles under /debug/pprof/", kAt<&Config::pprof_enabled>,
        {.missing = kNoProfiles}),
    Key("kube.enabled", "kube.enable", "Name pods through Kubernetes", kAt<&Config::kube_enabled>),
    Key("kube.config", "kube.config", "Kubeconfig file; empty: the pod's service account", kAt<&Config::kube_config>,
        {.is_path = true}),
    Key("kube.nodeName", "kube.node-name",
        "Name of this node, as in the cluster and in the label node_name. Required if kube.enabled is true, because "
        "the host name may differ; else the default is the host name",
        kAt<&Config::node_name>),
    Key("kube.podInformer.mode", "",
        "Server that lists the pods of this node. auto: the kubelet, or the API server while the kubelet is "
        "unavailable; the kubelet is tried again each hour",
        kAt<&Config::informer_mode>, {.choices = kInformerModes}),
    Key("kube.podInformer.pollInterval", "", "Interval of requests for the list of pods to the kubelet; 0: the default",
        kAt<&Config::informer_poll_interval>, {.min = 0, .max = kDay, .min_above_zero = kSecond}),
    Key("kube.podInformer.labels", "metrics.labels",
        "Labels of pods, by their names in the cluster, that the series of pods show too: team as label_team, "
        "app.kubernetes.io/name as label_app_kubernetes_io_name",
        kAt<&Config::pod_labels>),
    Key("kube.podInformer.annotations", "metrics.annotations",
        "Annotations of pods, by their names in the cluster, that the series of pods show too: example.com/owner as "
        "annotation_example_com_owner",
        kAt<&Config::pod_annotations>),
    Key("kube.podInformer.kubeletCaFile", "",
        "PEM file with the CA that signed the kubelet's certificate; empty: the CA of the cluster",
        kAt<&Config::kubelet_ca_file>, {.is_path = true}),
    Key("kube.podInformer.kubeletInsecureSkipVerify", "",
        "Believe whoever answers at the kubelet's address, and send the token there", kAt<&Config::kubelet_insecure>),
    Key("dev.software-events", "dev.software-events",
        "Where events are counted, those of the kernel stand in for those of the processor, which a virtual machine "
        "may not have",
        kAt<&Config::software_events>),
    Key("dev.fake-cpu-meter.enabled", "", "Deprecated: set cpu.preferredMeters to [fake]", kAt<&Config::fake_meter>),
    Key("dev.fake-cpu-meter.zones", "", "Zones of the fake meter; empty: package, core, dram",
        kAt<&Config::fake_zones>),
    Key("experimental.platform.redfish.enabled", "experimental.platform.redfish.enabled",
        "Read the power of the whole machine from its BMC", kAt<&Config::redfish_enabled>, {.missing = kNoBmcs}),
    Key("experimental.platform.redfish.nodeName", "experimental.platform.redfish.node-name",
        "This node's name in the BMC file; empty: kube.nodeName, then the host name", kAt<&Config::redfish_node_name>,
        {.missing = kNoBmcs}),
    Key("experimental.platform.redfish.configFile", "experimental.platform.redfish.config-file",
        "File that names the BMCs and their credentials; required with redfish.enabled",
        kAt<&Config::redfish_config_file>, {.missing = kNoBmcs, .is_path = true}),
    Key("experimental.platform.redfish.httpTimeout", "", "Longest wait for one answer of a BMC; 0: the default",
        kAt<&Config::redfish_http_timeout>, {.missing = kNoBmcs, .min = 0, .max = kHour}),
    Key("experimental.hwmon.forceEnabled", "experimental.hwmon.force-enabled",
        "Deprecated: set cpu.preferredMeters to [hwmon]", kAt<&Config::force_hwmon>),
    Key("experimental.hwmon.zones", "experimental.hwmon.zones",
        "hwmon sensors to read, by label, of whichever chip; empty: all of the chips that count as CPU",
        kAt<&Config::hwmon, &HwmonOptions::zones>),
    Key("experimental.hwmon.chips", "",
        "hwmon chips that count as CPU, beside those with a rule in chipRules; empty: power_meter, zenpower, "
        "amd_energy, fam15h_power, scmi_sensors, scmi_hwmon, apm_xgene, xgene_hwmon, xgene, ibmpowernv, and all whose "
        "names begin with ina, ltc, adm1, max, tps, ir3, xdpe, mp2, mp5, ucd9, pmbus, lm250, isl, raa",
        kAt<&Config::hwmon, &HwmonOptions::chips>),
    Key("experimental.hwmon.chipRules", "", "How voltages and currents of a chip belong together",
        kAt<&Config::hwmon, &HwmonOptions::chip_rules>, {.items = &kChipRules}),
    Key("experimental.gpu.enabled", "experimental.gpu.enabled", "Read the GPUs", kAt<&Config::gpu_enabled>,
        {.missing = kNoGpus}),
    Key("experimental.gpu.idlePower", "experimental.gpu.idle-power", "Power of an idle GPU; 0: the least that was seen",
        kAt<&Config::gpu_idle_power>, {.missing = kNoGpus, .unit = "watts", .min = 0, .max = 1'000'000}),
    Key("experimental.gpu.dcgmEndpoint", "experimental.gpu.dcgm-endpoint",
        "URL of a dcgm-exporter, for GPUs that are split (MIG)", kAt<&Config::gpu_dcgm_endpoint>, {.missing = kNoGpus}),
};

}  // namespace

const settings::TableOf<Config> kTable(kKeys);

}  // namespace kepler::agent
