#include <array>
#include <chrono>
#include <string_view>

#include "apps/kepler/config.h"

namespace kepler::agent {
namespace {

using energy::hwmon::ChipRule;
using energy::hwmon::HwmonOptions;
using energy::rapl::RaplOptions;
using settings::kAt;
using settings::Key;
using std::chrono::hours;
using std::string_view_literals::operator""sv;

// In the order of the enumerators.
constexpr std::array kLogLevels = {"debug"sv, "info"sv, "warn"sv, "error"sv};
constexpr std::array kLogFormats = {"text"sv, "json"sv};
constexpr std::array kMeters = {"rapl"sv, "hwmon"sv, "fake"sv};
constexpr std::array kPlatformMeters = {"pm-counters"sv, "redfish"sv, "dcmi"sv, "acpi"sv, "psu"sv, "battery"sv};
constexpr std::array kActivitySources = {"auto"sv, "bpf"sv, "procfs"sv};
constexpr std::array kCounters = {"off"sv, "hardware"sv};
constexpr std::array kWeights = {"cpu-time"sv, "counters"sv, "model"sv};
constexpr std::array kRatios = {"proc-stat"sv, "exact"sv};
constexpr std::array kIdlePolicies = {"ratio"sv, "baseline"sv};
constexpr std::array kKernelThreads = {"each"sv, "one"sv, "none"sv};
constexpr std::array kIdlePayers = {"node"sv, "by-use"sv, "by-request"sv};
constexpr std::array kDebugCollectors = {"go"sv, "process"sv};
constexpr std::array kInformerModes = {"auto"sv, "kubelet"sv, "apiserver"sv};
constexpr std::array kOtlpProtocols = {"auto"sv, "http/protobuf"sv, "grpc"sv};
constexpr std::array kTemporalities = {"auto"sv, "cumulative"sv, "delta"sv};
constexpr std::array kCompressions = {"none"sv, "gzip"sv};
constexpr std::array kNameSets = {"v011"sv, "v07"sv, "both"sv};
constexpr std::array kLabelSets = {"v011"sv, "kubernetes"sv};
constexpr std::array kLevels = {"node"sv, "process"sv,   "container"sv, "vm"sv,
                                "pod"sv,  "namespace"sv, "owner"sv,     "user"sv};

constexpr int64_t kDay = Duration(hours(24)).count();
constexpr int64_t kShortestInterval = Duration(std::chrono::milliseconds(10)).count();  // a tick must end in it
constexpr int64_t kSecond = Duration(std::chrono::seconds(1)).count();
constexpr int64_t kMinute = Duration(std::chrono::minutes(1)).count();
constexpr int64_t kMinQueue = 4'000'000;        // bytes; a request of OTLP without compression has up to 3 MiB
constexpr int64_t kMaxQueue = 100'000'000'000;  // bytes
constexpr int64_t kHour = Duration(hours(1)).count();
constexpr int64_t kMaxSensorIndex = 1024;

constexpr std::string_view kNoProfiles = "there is no Go runtime to profile; perf shows where time goes";
constexpr std::string_view kNoGpus = "GPUs are not read";

constexpr Key kChipRuleKeys[] = {
    Key("name", "", "Name of the hwmon chip: the content of /sys/class/hwmon/hwmon*/name; required",
        kAt<&ChipRule::name>, {.required = true}),
    Key("pairings", "", "Map from the index of a voltage to the index of its current", kAt<&ChipRule::pairings>,
        {.min = 0, .max = kMaxSensorIndex}),
    Key("skipVoltages", "", "Indexes of the voltages to ignore", kAt<&ChipRule::skip_voltages>,
        {.min = 0, .max = kMaxSensorIndex}),
    Key("skipCurrents", "", "Indexes of the currents to ignore", kAt<&ChipRule::skip_currents>,
        {.min = 0, .max = kMaxSensorIndex}),
    Key("useSameIndex", "", "Pair each remaining voltage with the current of the same index",
        kAt<&ChipRule::use_same_index>),
};
constexpr settings::TableOf<ChipRule> kChipRules(kChipRuleKeys);

constexpr Key kKeys[] = {
    Key("log.level", "log.level", "Minimum level of log messages", kAt<&Config::log_level>, {.choices = kLogLevels}),
    Key("log.format", "log.format", "Format of log lines", kAt<&Config::log_format>, {.choices = kLogFormats}),
    Key("host.sysfs", "host.sysfs", "Path to the host's sysfs", kAt<&Config::host, &Host::sysfs>, {.is_path = true}),
    Key("host.procfs", "host.procfs", "Path to the host's procfs", kAt<&Config::host, &Host::procfs>,
        {.is_path = true}),
    Key("monitor.interval", "monitor.interval", "Time between two measurements; 0: measure only on request",
        kAt<&Config::freshness, &pipeline::Freshness::interval>,
        {.min = 0, .max = kDay, .min_above_zero = kShortestInterval}),
    Key("monitor.staleness", "",
        "Maximum age of the last measurement; a request that finds an older one triggers a new one, and gets the old "
        "one after 1s",
        kAt<&Config::freshness, &pipeline::Freshness::staleness>, {.min = 0, .max = kDay}),
    Key("monitor.maxTerminated", "monitor.max-terminated",
        "Maximum number of ended workloads to list, by most energy used; 0: none, negative: 100,000",
        kAt<&Config::max_terminated>),
    Key("monitor.minTerminatedEnergyThreshold", "", "Minimum energy of an ended workload to be listed",
        kAt<&Config::min_terminated_joules>, {.unit = "joules", .min = 0, .max = 1'000'000'000'000}),
    Key("monitor.terminatedRetention", "",
        "Time that an ended workload stays listed; set it longer than the longest scrape interval",
        kAt<&Config::terminated_retention>, {.min = 0, .max = kDay}),
    Key("cpu.preferredMeters", "", "CPU meters to use, in order of preference", kAt<&Config::preferred_meters>,
        {.choices = kMeters}),
    Key("rapl.zones", "",
        "RAPL zones to read, case-insensitive (package, core, dram, psys, ...). Empty: all zones; on AMD all except "
        "core, whose counter covers a single core",
        kAt<&Config::rapl, &RaplOptions::zones>),
    Key("rapl.perf.force", "",
        "Read RAPL through perf even if powercap works, and in a virtual machine. Otherwise perf is used only if "
        "powercap does not work, and not in a virtual machine. Requires CAP_PERFMON",
        kAt<&Config::rapl, &RaplOptions::perf_force>),
    Key("rapl.msr.enabled", "",
        "Read RAPL from the registers of the processor (MSR) if neither powercap nor perf works, but not in a virtual "
        "machine. Requires CAP_SYS_RAWIO, which is a security risk",
        kAt<&Config::rapl, &RaplOptions::msr_enabled>),
    Key("rapl.msr.force", "",
        "Read RAPL from the registers even if powercap or perf works, and in a virtual machine; requires "
        "rapl.msr.enabled",
        kAt<&Config::rapl, &RaplOptions::msr_force>),
    Key("rapl.msr.devicePath", "", "Directory with the msr device of each CPU, as NUMBER/msr",
        kAt<&Config::rapl, &RaplOptions::msr_device_path>, {.is_path = true}),
    Key("meter.require", "meter.require", "Exit at startup if no energy meter is found, instead of estimating energy",
        kAt<&Config::require_meter>),
    Key("platform.preferredMeters", "",
        "Meters of the whole machine to use, in order of preference. They are usually one sensor behind several "
        "interfaces, so the total of "
        "the machine is that of the first meter that answers. Empty: none",
        kAt<&Config::platform_meters>, {.choices = kPlatformMeters}),
    Key("platform.dcmi.devicePath", "",
        "Path to the IPMI device of the machine's BMC. Empty: the first of /dev/ipmi0, /dev/ipmi/0 and /dev/ipmidev/0 "
        "that exists",
        kAt<&Config::dcmi, &Dcmi::device_path>, {.is_path = true}),
    Key("platform.dcmi.interval", "",
        "Time between two readings of the BMC by IPMI. Each reading costs CPU time of the kernel thread kipmi0",
        kAt<&Config::dcmi, &Dcmi::interval>, {.min = kSecond, .max = kMinute}),
    Key("model.sources", "model.sources",
        "Trained power models: files, directories, and http or https URLs. An item may end in #sha256=CHECKSUM, "
        "#power=AbsPower (the model predicts the power of the whole machine) or #power=DynPower (it predicts only "
        "the power that load adds). Empty: /usr/share/kepler/models",
        kAt<&Config::model_sources>),
    Key("model.server", "model.server",
        "URL of a server of kepler-model serve or of the model server of Kepler 0.7: the agent fetches the model that "
        "the "
        "server chooses for this machine. Empty: none",
        kAt<&Config::model_server>),
    Key("model.serverUser", "model.server-user",
        "User name for basic authentication at model.server, which must be an https URL. Empty: no login",
        kAt<&Config::model_server_user>),
    Key("model.serverPasswordFile", "model.server-password-file",
        "File with the password of model.serverUser, read for each fetch; a trailing line end is ignored",
        kAt<&Config::model_server_password_file>, {.is_path = true}),
    Key("model.refresh", "model.refresh",
        "Interval at which models are fetched again from model.server and from URLs in model.sources",
        kAt<&Config::model_refresh>, {.min = kMinute, .max = kDay}),
    Key("model.cacheDir", "model.cache-dir",
        "Directory for copies of fetched models, used at startup if a URL is unreachable. Empty: no copies",
        kAt<&Config::model_cache_dir>, {.is_path = true}),
    Key("model.publicKey", "model.public-key",
        "PEM file with one or more Ed25519 public keys. Models must be signed by one of these keys; the signature of "
        "FILE is read from FILE.sig. Empty: signatures are not checked",
        kAt<&Config::model_public_key>, {.is_path = true}),
    Key("model.platform", "",
        "Estimate the power of the whole machine (zone platform) if no meter measures it; meter.require disables "
        "this estimate",
        kAt<&Config::model_platform>),
    Key("model.guestIdle", "",
        "In a virtual machine, also estimate the idle power of the processors, which the machine shares with other "
        "guests. Default: estimate only the power that load adds",
        kAt<&Config::model_guest_idle>),
    Key("activity.source", "activity.source", "Source of CPU time per process; auto: bpf if it loads, else procfs",
        kAt<&Config::activity_source>, {.choices = kActivitySources}),
    Key("activity.counters", "activity.counters",
        "Count cycles, instructions and cache misses per process; requires bpf", kAt<&Config::counters>,
        {.choices = kCounters}),
    Key("attribution.weights", "attribution.weights",
        "How active energy is split among workloads. cpu-time: by CPU time; counters: by cache misses for dram, by a "
        "fitted mix of cycles and instructions for other zones (turns activity.counters on); model: by the "
        "contribution of each feature to the estimate of a model from model.sources, or by CPU time if no model fits",
        kAt<&Config::split, &pipeline::SplitOptions::weights>, {.choices = kWeights}),
    Key("attribution.ratio", "attribution.ratio",
        "Source of the CPU usage ratio. proc-stat: timer ticks of the kernel in /proc/stat; exact: measured CPU time "
        "in nanoseconds",
        kAt<&Config::split, &pipeline::SplitOptions::ratio>, {.choices = kRatios}),
    Key("attribution.split", "attribution.split",
        "How node energy is split into idle and active. ratio: total energy times the CPU usage ratio is active; "
        "baseline: idle power is learned at low load and stays the same at any load",
        kAt<&Config::split, &pipeline::SplitOptions::idle>, {.choices = kIdlePolicies}),
    Key("attribution.idle", "attribution.idle",
        "How idle energy is shared, in separate metrics. node: not shared; by-use: by CPU time; by-request: among "
        "containers, by their memory requests for dram and by their CPU requests for other zones (requires "
        "kube.enabled)",
        kAt<&Config::split, &pipeline::SplitOptions::idle_payers>, {.choices = kIdlePayers}),
    Key("exporter.stdout.enabled", "exporter.stdout",
        "Print a table of node power to stdout; the log then goes to stderr", kAt<&Config::stdout_enabled>),
    Key("exporter.stdout.top", "exporter.stdout.top",
        "Number of top processes, containers and VMs to list below the table", kAt<&Config::stdout_top>,
        {.min = 0, .max = 1'000'000}),
    Key("exporter.prometheus.enabled", "exporter.prometheus", "Serve /metrics", kAt<&Config::prometheus_enabled>),
    Key("exporter.prometheus.debugCollectors", "",
        "Collectors of metrics about the agent itself: process; go is accepted without effect",
        kAt<&Config::debug_collectors>, {.choices = kDebugCollectors}),
    Key("exporter.prometheus.metricsLevel", "metrics",
        "Levels of metrics to export; also: all. namespace and owner add totals of pods by namespace and by controller "
        "(with kube.enabled), user adds totals of processes by Unix user. In a container the names of users need "
        "CAP_SYS_PTRACE",
        kAt<&Config::metrics_level>, {.choices = kLevels}),
    Key("exporter.prometheus.limits.maxProcesses", "",
        "Maximum number of running processes with series, by most recent power; 0: all. The energy of the other "
        "processes is kepler_node_cpu_unlisted_joules_total with reason capped",
        kAt<&Config::limits, &Limits::max_processes>, {.min = 0, .max = 1'000'000}),
    Key("exporter.prometheus.limits.minWatts", "",
        "Minimum recent power of a running process to get its own series; 0: no minimum",
        kAt<&Config::limits, &Limits::min_watts>, {.unit = "watts", .min = 0, .max = 1'000'000}),
    Key("exporter.prometheus.limits.kernelThreads", "",
        "Series of kernel threads outside containers and pods. each: one series per thread; one: a single process, "
        "kthreadd, for all threads, which maxProcesses and minWatts do not limit; none: no series",
        kAt<&Config::limits, &Limits::kernel_threads>, {.choices = kKernelThreads}),
    Key("exporter.prometheus.limits.maxLabelLength", "",
        "Maximum length of the names of programs and containers in labels; ids are never cut",
        kAt<&Config::limits, &Limits::max_label_length>, {.unit = "bytes", .min = 16, .max = kMaxLabelBytes}),
    Key("exporter.prometheus.exactTotals", "",
        "Export one series for each workload, without the label state, and keep it for monitor.terminatedRetention "
        "after the workload has ended. increase() of Prometheus is then exact. The metrics kepler_*_state_info have "
        "the "
        "state. The labels differ from those of Kepler 0.11",
        kAt<&Config::exact_totals>),
    Key("exporter.prometheus.createdLines", "",
        "In OpenMetrics, write a line with the start time after each counter (_created). The protobuf format always "
        "has these times; servers that do not ingest them store the lines as series",
        kAt<&Config::created_lines>),
    Key("exporter.prometheus.names", "",
        "Names of the metrics of processes, containers, virtual machines and pods: v011, as in Kepler 0.11; v07, as in "
        "Kepler 0.7, for its dashboards and rules; both",
        kAt<&Config::names>, {.choices = kNameSets}),
    Key("exporter.prometheus.labelNames", "",
        "Names of labels for pods. v011: pod_name and pod_namespace on pods, as in Kepler 0.11; kubernetes: pod and "
        "namespace, on pods and containers",
        kAt<&Config::labels>, {.choices = kLabelSets}),
    Key("exporter.otlp.enabled", "exporter.otlp",
        "Send the metrics to an OpenTelemetry server by OTLP. Environment variables OTEL_EXPORTER_OTLP_* are used for "
        "keys that are not set",
        kAt<&Config::otlp, &PushServer::enabled>),
    Key("exporter.otlp.endpoint", "exporter.otlp.endpoint",
        "URL of the server; /v1/metrics is added, except with gRPC. Empty: http://localhost:4318, with gRPC "
        "http://localhost:4317",
        kAt<&Config::otlp, &PushServer::endpoint>),
    Key("exporter.otlp.protocol", "",
        "Protocol of requests; auto: that of the environment variable OTEL_EXPORTER_OTLP_PROTOCOL, else http/protobuf",
        kAt<&Config::otlp_protocol>, {.choices = kOtlpProtocols}),
    Key("exporter.otlp.temporality", "",
        "What counters count: cumulative, since their start; delta, since the push before; auto: "
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, or cumulative",
        kAt<&Config::otlp_temporality>, {.choices = kTemporalities}),
    Key("exporter.otlp.interval", "", "Time between two pushes; 0: 15s", kAt<&Config::otlp, &PushServer::interval>,
        {.min = 0, .max = kHour, .min_above_zero = kSecond}),
    Key("exporter.otlp.timeout", "", "Timeout of a request; 0: 10s", kAt<&Config::otlp, &PushServer::timeout>,
        {.min = 0, .max = kHour, .min_above_zero = kShortestInterval}),
    Key("exporter.otlp.compression", "", "Compression of requests", kAt<&Config::otlp_compression>,
        {.choices = kCompressions}),
    Key("exporter.otlp.headersFile", "",
        "File with headers of each request, one line NAME: VALUE for each, such as Authorization: Bearer TOKEN. It is "
        "read again for each request",
        kAt<&Config::otlp, &PushServer::headers_file>, {.is_path = true}),
    Key("exporter.otlp.maxQueue", "",
        "Maximum size of the encoded requests that wait while the server is unavailable. Then the oldest are dropped "
        "and counted",
        kAt<&Config::otlp, &PushServer::max_queue_bytes>, {.unit = "bytes", .min = kMinQueue, .max = kMaxQueue}),
    Key("exporter.otlp.queueDirectory", "",
        "Directory in which these requests wait, so that they outlive the agent; it is created, in an existing one. "
        "Empty: they wait in memory",
        kAt<&Config::otlp, &PushServer::queue_directory>, {.is_path = true}),
    Key("exporter.otlp.tls.caFile", "",
        "PEM file with the CA that signed the server's certificate. Empty: the CAs of the system",
        kAt<&Config::otlp, &PushServer::ca_file>, {.is_path = true}),
    Key("exporter.otlp.tls.certFile", "", "PEM file with the agent's certificate, if the server requires one",
        kAt<&Config::otlp, &PushServer::cert_file>, {.is_path = true}),
    Key("exporter.otlp.tls.keyFile", "", "PEM file with the key of the certificate",
        kAt<&Config::otlp, &PushServer::key_file>, {.is_path = true}),
    Key("exporter.remoteWrite.enabled", "exporter.remote-write",
        "Send the metrics to a server of Prometheus remote write",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::enabled>),
    Key("exporter.remoteWrite.url", "exporter.remote-write.url",
        "URL of the server with its path, such as http://localhost:9090/api/v1/write; required if "
        "exporter.remoteWrite.enabled is true",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::endpoint>),
    Key("exporter.remoteWrite.version", "",
        "Version of the protocol. 2 sends start times too; the server must accept it",
        kAt<&Config::remote_write, &RemoteWrite::version>, {.min = 1, .max = 2}),
    Key("exporter.remoteWrite.job", "", "Value of the label job. Empty: no label",
        kAt<&Config::remote_write, &RemoteWrite::job>),
    Key("exporter.remoteWrite.instance", "", "Value of the label instance. Empty: the name of this node",
        kAt<&Config::remote_write, &RemoteWrite::instance>),
    Key("exporter.remoteWrite.interval", "", "Time between two pushes",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::interval>, {.min = kSecond, .max = kHour}),
    Key("exporter.remoteWrite.timeout", "", "Timeout of a request",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::timeout>,
        {.min = kShortestInterval, .max = kHour}),
    Key("exporter.remoteWrite.headersFile", "",
        "File with headers of each request, one line NAME: VALUE for each, such as X-Scope-OrgID: TENANT. It is read "
        "again for each request",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::headers_file>, {.is_path = true}),
    Key("exporter.remoteWrite.maxQueue", "",
        "Maximum size of the encoded requests that wait while the server is unavailable. Then the oldest are dropped "
        "and counted",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::max_queue_bytes>,
        {.unit = "bytes", .min = kMinQueue, .max = kMaxQueue}),
    Key("exporter.remoteWrite.queueDirectory", "",
        "Directory in which these requests wait, so that they outlive the agent; it is created, in an existing one. "
        "Empty: they wait in memory",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::queue_directory>, {.is_path = true}),
    Key("exporter.remoteWrite.tls.caFile", "",
        "PEM file with the CA that signed the server's certificate. Empty: the CAs of the system",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::ca_file>, {.is_path = true}),
    Key("exporter.remoteWrite.tls.certFile", "", "PEM file with the agent's certificate, if the server requires one",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::cert_file>, {.is_path = true}),
    Key("exporter.remoteWrite.tls.keyFile", "", "PEM file with the key of the certificate",
        kAt<&Config::remote_write, &RemoteWrite::server, &PushServer::key_file>, {.is_path = true}),
    Key("exporter.jsonLines.path", "exporter.json-lines",
        "File for the metrics as lines of JSON, for machines without a network. Empty: none",
        kAt<&Config::json_lines, &JsonLines::path>, {.is_path = true}),
    Key("exporter.jsonLines.interval", "", "Time between two ticks in the file",
        kAt<&Config::json_lines, &JsonLines::interval>, {.min = kSecond, .max = kDay}),
    Key("exporter.jsonLines.maxSize", "",
        "Maximum size of a file. A full file is renamed to PATH.1, that one to PATH.2",
        kAt<&Config::json_lines, &JsonLines::max_size>, {.unit = "bytes", .min = 1'000'000, .max = 1'000'000'000'000}),
    Key("exporter.jsonLines.maxFiles", "", "Maximum number of files, including the current one",
        kAt<&Config::json_lines, &JsonLines::max_files>, {.min = 1, .max = 1000}),
    Key("web.configFile", "web.config-file",
        "Path to the web configuration file in the format of the Prometheus exporters (TLS, basic authentication)",
        kAt<&Config::web_config_file>, {.alias = "web.config.file", .is_path = true}),
    Key("web.listenAddresses", "web.listen-address", "Listen addresses: host:port, :port or [ipv6]:port",
        kAt<&Config::listen_addresses>),
    Key("debug.pprof.enabled", "debug.pprof", "Serve profiles under /debug/pprof/", kAt<&Config::pprof_enabled>,
        {.missing = kNoProfiles}),
    Key("kube.enabled", "kube.enable", "Get pod names from Kubernetes", kAt<&Config::kube_enabled>),
    Key("kube.config", "kube.config", "Path to the kubeconfig file. Empty: use the service account of the pod",
        kAt<&Config::kube_config>, {.is_path = true}),
    Key("kube.nodeName", "kube.node-name",
        "Name of this node in the cluster and in the label node_name. Required if kube.enabled is true, because the "
        "host name may differ. Otherwise the default is the host name",
        kAt<&Config::node_name>),
    Key("kube.podInformer.mode", "",
        "Server that lists the pods of this node. auto: the kubelet, or the API server while the kubelet is "
        "unavailable; the agent retries the kubelet each hour",
        kAt<&Config::informer_mode>, {.choices = kInformerModes}),
    Key("kube.podInformer.pollInterval", "", "Time between two requests for the pod list; 0: the default",
        kAt<&Config::informer_poll_interval>, {.min = 0, .max = kDay, .min_above_zero = kSecond}),
    Key("kube.podInformer.labels", "metrics.labels",
        "Pod labels to add to the series of pods. Label team becomes label_team; app.kubernetes.io/name becomes "
        "label_app_kubernetes_io_name",
        kAt<&Config::pod_labels>),
    Key("kube.podInformer.annotations", "metrics.annotations",
        "Pod annotations to add to the series of pods. Annotation example.com/owner becomes "
        "annotation_example_com_owner",
        kAt<&Config::pod_annotations>),
    Key("kube.podInformer.kubeletCaFile", "",
        "PEM file with the CA that signed the kubelet's certificate. Empty: the cluster CA",
        kAt<&Config::kubelet_ca_file>, {.is_path = true}),
    Key("kube.podInformer.kubeletInsecureSkipVerify", "",
        "Do not verify the kubelet's certificate; an impostor could then receive the token",
        kAt<&Config::kubelet_insecure>),
    Key("dev.software-events", "dev.software-events",
        "Count software events of the kernel instead of hardware events, for machines without hardware counters such "
        "as virtual machines",
        kAt<&Config::software_events>),
    Key("dev.fake-cpu-meter.enabled", "", "Deprecated: set cpu.preferredMeters to [fake]", kAt<&Config::fake_meter>),
    Key("dev.fake-cpu-meter.zones", "", "Zones of the fake meter. Empty: package, core, dram",
        kAt<&Config::fake_zones>),
    Key("experimental.platform.redfish.enabled", "experimental.platform.redfish.enabled",
        "Read the power of the whole machine from its BMC over Redfish", kAt<&Config::redfish_enabled>),
    Key("experimental.platform.redfish.nodeName", "experimental.platform.redfish.node-name",
        "Name of this node in the BMC file. Empty: kube.nodeName or, without it, the host name",
        kAt<&Config::redfish_node_name>),
    Key("experimental.platform.redfish.configFile", "experimental.platform.redfish.config-file",
        "Path to the file with BMC addresses and credentials; required if redfish.enabled is true",
        kAt<&Config::redfish_config_file>, {.is_path = true}),
    Key("experimental.platform.redfish.httpTimeout", "", "Timeout of a request to a BMC; 0: the default",
        kAt<&Config::redfish_http_timeout>, {.min = 0, .max = kHour}),
    Key("experimental.platform.redfish.interval", "",
        "Time between two readings of the BMC by Redfish. Most BMCs update their sensors every few seconds",
        kAt<&Config::redfish_interval>, {.min = kSecond, .max = kMinute}),
    Key("experimental.hwmon.forceEnabled", "experimental.hwmon.force-enabled",
        "Deprecated: set cpu.preferredMeters to [hwmon]", kAt<&Config::force_hwmon>),
    Key("experimental.hwmon.zones", "experimental.hwmon.zones",
        "Labels of the hwmon sensors to read, on any chip. Empty: all sensors of the CPU chips",
        kAt<&Config::hwmon, &HwmonOptions::zones>),
    Key("experimental.hwmon.chips", "",
        "hwmon chips that measure a CPU, in addition to the chips in chipRules. Empty: zenpower, "
        "amd_energy, fam15h_power, scmi_sensors, scmi_hwmon, apm_xgene, xgene_hwmon, xgene, ibmpowernv, and all "
        "chips whose names begin with ina, ltc, adm1, max, tps, ir3, xdpe, mp2, mp5, ucd9, pmbus, lm250, isl, raa",
        kAt<&Config::hwmon, &HwmonOptions::chips>),
    Key("experimental.hwmon.chipRules", "", "Rules that pair the voltages of a chip with its currents",
        kAt<&Config::hwmon, &HwmonOptions::chip_rules>, {.items = &kChipRules}),
    Key("experimental.gpu.enabled", "experimental.gpu.enabled", "Read the power of GPUs", kAt<&Config::gpu_enabled>,
        {.missing = kNoGpus}),
    Key("experimental.gpu.idlePower", "experimental.gpu.idle-power", "Power of an idle GPU; 0: the minimum seen",
        kAt<&Config::gpu_idle_power>, {.missing = kNoGpus, .unit = "watts", .min = 0, .max = 1'000'000}),
    Key("experimental.gpu.dcgmEndpoint", "experimental.gpu.dcgm-endpoint",
        "URL of a dcgm-exporter, for partitioned GPUs (MIG)", kAt<&Config::gpu_dcgm_endpoint>, {.missing = kNoGpus}),
};

}  // namespace

const settings::TableOf<Config> kTable(kKeys);

}  // namespace kepler::agent
