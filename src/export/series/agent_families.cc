#include "export/series/agent_rows.h"
#include "export/series/family_table.h"
#include "export/series/label_names.h"

namespace kepler::series {
namespace {

using snapshot::Snapshot;
using status::ActivityStatus;
using status::AuditStatus;
using status::EstimateStatus;
using status::HttpStatus;
using status::ModelStoreStatus;
using status::PipelineStatus;
using status::PodInformerStatus;
using status::PushStatus;
using status::RecordCount;
using status::SelfStatus;
using status::SourceStatus;

// The HELP texts of Origin::kUpstream are part of its interface and must not change.
constexpr auto kAgentFamilies = std::to_array<Family>({
    {"kepler_activity_audit_cgroups_total",
     "Number of cgroup audits. Each compares the CPU time of a cgroup's processes with the kernel's sum, after at "
     "least "
     "one second of CPU time",
     kNodeName, OfAudit<&AuditStatus::comparisons>},
    {"kepler_activity_audit_charged_seconds_total",
     "CPU time used by cgroups but by no known process, in seconds, charged as unseen; with bpf: time that no record "
     "reported",
     kNodeName, OfAudit<&AuditStatus::charged>, "seconds"},
    {"kepler_activity_audit_last_timestamp_seconds", "Unix time of the last audit of cgroup CPU time, in seconds",
     kNodeName, ActivityAuditLast, "seconds"},
    {"kepler_activity_audit_worst_ratio",
     "bpf: largest difference that the audit found in the last two minutes, as a ratio of the cgroup's CPU time, "
     "before "
     "it is charged; procfs: the same, after unseen time is charged",
     kNodeName, OfAudit<&AuditStatus::worst_ratio>},
    {"kepler_activity_bpf_run_seconds_total",
     "Run time of the BPF programs, in seconds; 0 unless kernel.bpf_stats_enabled=1; bpf only", kNodeName,
     OfKernelSide<&ActivityStatus::program_time>, "seconds"},
    {"kepler_activity_bpf_runs_total", "Runs of the BPF programs; 0 unless kernel.bpf_stats_enabled=1; bpf only",
     kNodeName, OfKernelSide<&ActivityStatus::program_runs>},
    {"kepler_activity_cpu_time_info",
     "Whether the CPU time of tasks includes interrupts and stolen time: in-task (included), apart (excluded by the "
     "kernel), unknown; always 1",
     kKeptApart, ActivityCpuTimeInfo},
    {"kepler_activity_dropped_total",
     "Events that the kernel side could not report, by kind: task, exec, cgroup, moved (records without buffer "
     "space), unreported (tasks that ended without a record), skipped (runs skipped by the kernel), slice (hardware "
     "events not counted). CPU time of lost tasks is charged to their cgroups as unseen; bpf only",
     kNodeKind, ActivityRecords<&RecordCount::dropped>},
    {"kepler_activity_failed_cgroup_reads_total", "Failed reads of cgroup files", kNodeName,
     OfActivity<&ActivityStatus::failed_cgroup_reads>},
    {"kepler_activity_iterator_seconds_total", "Time spent in iterating over all tasks, in seconds; bpf only",
     kNodeName, OfKernelSide<&ActivityStatus::iterator_time>, "seconds"},
    {"kepler_activity_lost_seconds_total",
     "CPU time of dropped records that no cgroup accounts for, in seconds; bpf only", kNodeName,
     OfKernelSide<&ActivityStatus::lost>, "seconds"},
    {"kepler_activity_records_total", "Records received from the kernel side, by kind; bpf only", kNodeKind,
     ActivityRecords<&RecordCount::taken>},
    {"kepler_activity_source_info", "Source of CPU time per process: bpf or procfs; always 1", kNodeSource,
     ActivitySourceInfo},
    {"kepler_activity_vanished_total", "Processes that ended while they were read, which is normal", kNodeName,
     OfActivity<&ActivityStatus::vanished>},
    {"kepler_attribution_info",
     "Method used to split the active energy of the zone (cpu-time, cycles, cycles-instructions-mix, cache-misses, "
     "model), and source of the usage ratio (proc-stat, exact); always 1",
     kZoneMethod, AttributionInfo},
    {"kepler_build_info", "A metric with a constant '1' value labeled with version information", kBuild, BuildInfoRow,
     "", kAlways, kUpstream},
    {"kepler_config_last_reload_success_timestamp_seconds",
     "Unix time of the last successful load of the configuration or the web file, in seconds", kNodeName,
     OfHttp<&HttpStatus::reload_success>, "seconds"},
    {"kepler_config_last_reload_successful",
     "Whether the last loads of the configuration and of the web file succeeded (1 = yes)", kNodeName,
     OfHttp<&HttpStatus::reload_successful>},
    {"kepler_cut_series",
     "Samples left out of this scrape because of exporter.prometheus.limits, by limit: kernel_threads, "
     "max_processes, min_watts; only with such a limit",
     kLimit, CutSeries, "", kProcess},
    {"kepler_exposed_series", "Samples in this scrape, including this one", kNodeName,
     OfExtras<&Extras::exposed_series>},
    {"kepler_failed_ticks_total", "Ticks in which processes could not be listed", kNodeName,
     OfPipeline<&PipelineStatus::failed_ticks>},
    {"kepler_http_accept_errors_total",
     "Failed attempts to accept a connection, for want of file descriptors or memory", kNodeName,
     OfHttp<&HttpStatus::accept_errors>},
    {"kepler_http_connections_evicted_total",
     "Connections closed at the connection limit to accept a new one: one that waits (for TLS, a request, a body or a "
     "password check), else the oldest of the network or client with most connections",
     kNodeName, OfHttp<&HttpStatus::connections_evicted>},
    {"kepler_http_connections_refused_total", "Connections over the limit, answered with 503", kNodeName,
     OfHttp<&HttpStatus::connections_refused>},
    {"kepler_http_connections_total", "Connections to the agent", kNodeName, OfHttp<&HttpStatus::connections>},
    {"kepler_http_handshake_errors_total", "Failed TLS handshakes", kNodeName, OfHttp<&HttpStatus::handshake_errors>},
    {"kepler_http_requests_denied_total",
     "Denied requests, by reason: no_credentials (401), password (wrong user or password, 401), backoff (too many "
     "failed logins of the client, 429), rate_limit (429), busy (the password cannot be checked now, 503), overload "
     "(too many requests wait for a handler, or the handler took too long, 503)",
     kNodeReason, DeniedHttpRequests},
    {"kepler_http_requests_total", "Requests to the agent", kNodeName, OfHttp<&HttpStatus::requests>},
    {"kepler_http_timeouts_total", "Connections closed because the client was too slow", kNodeName,
     OfHttp<&HttpStatus::timeouts>},
    {"kepler_http_tls_certificate_expiry_timestamp_seconds",
     "Unix time at which the server certificate expires, in seconds; only with TLS", kNodeName,
     OfHttpWhereKnown<&HttpStatus::certificate_expiry>, "seconds"},
    {"kepler_log_lines_dropped_total", "Log lines lost because the log could not be written, or not fast enough",
     kNodeName, OfExtras<&Extras::log_lines_dropped>},
    {"kepler_missed_ticks_total",
     "Ticks skipped because the previous tick was still running or the machine was suspended", kNodeName,
     OfPipeline<&PipelineStatus::missed_ticks>},
    {"kepler_model_clamped_total",
     "Predictions changed because they were physically impossible or below a measured part; only if a model is in use",
     kNodeName, OfEstimates<&EstimateStatus::clamped>},
    {"kepler_model_error_known", "Whether the model that estimates the zone states its error (1 = yes)", kModelZone,
     ModelErrorKnown},
    {"kepler_model_error_ratio",
     "Mean relative error of the model that estimates the zone, as a ratio of the watts, by the machines on which it "
     "was measured: same_machine, other_machines, or training_machine (the error here is larger)",
     kBasisZone, ModelErrorRatio, "ratio"},
    {"kepler_model_error_watts",
     "Mean absolute error of the model that estimates the zone, in watts, by the machines on which it was measured; "
     "see kepler_model_error_ratio",
     kBasisZone, ModelErrorWatts, "watts"},
    {"kepler_model_extrapolated_total",
     "Predictions outside the training range of the model; only if a model is in use", kNodeName,
     OfEstimates<&EstimateStatus::extrapolated>},
    {"kepler_model_failed_refreshes_total", "Failed attempts to read trained models", kNodeName,
     OfModelStore<&ModelStoreStatus::failed_refreshes>},
    {"kepler_model_info",
     "Model that estimates the zone, its stated error (empty: unknown), why it matches this machine "
     "(see docs/agent-models.md), and its scope: machine (with idle power) or load (only what load adds); source "
     "'built-in' is the shipped model; always 1",
     kZoneModel, ModelInfo},
    {"kepler_model_last_fetch_timestamp_seconds",
     "Unix time of the last successful fetch from model.server and from the URLs in model.sources, in seconds: of the "
     "oldest; 0: one never succeeded; only with such a URL",
     kNodeName, OfModelStoreWhereKnown<&ModelStoreStatus::last_fetch>, "seconds"},
    {"kepler_model_last_success_timestamp_seconds",
     "Unix time of the last successful read of trained models, in seconds; 0: never", kNodeName,
     OfModelStore<&ModelStoreStatus::last_success>, "seconds"},
    {"kepler_model_prediction_seconds_total",
     "Time spent in predictions, in seconds, as part of ticks; only if a model is in use", kNodeName,
     OfEstimates<&EstimateStatus::prediction_time>, "seconds"},
    {"kepler_model_predictions_total",
     "Predictions: one per model and tick, and with attribution.weights: model up to 16 per zone; only if a model is "
     "in use",
     kNodeName, OfEstimates<&EstimateStatus::predictions>},
    {"kepler_model_refreshes_total",
     "Attempts to read trained models; only if models are configured or their default directory exists", kNodeName,
     OfModelStore<&ModelStoreStatus::refreshes>},
    {"kepler_models",
     "Number of loaded trained models; only if models are configured or their default directory exists", kNodeName,
     OfModelStore<&ModelStoreStatus::models>},
    {"kepler_pod_informer_failed_requests_total",
     "Failed requests for the pods of this node: no answer, or no list of pods", kNodeName,
     OfPodInformer<&PodInformerStatus::failed_requests>},
    {"kepler_pod_informer_info",
     "Mode of kube.podInformer, and the source of pod names in use: kubelet or apiserver; always 1; only with "
     "kube.enabled",
     kModeSource, PodInformerInfo},
    {"kepler_pod_informer_last_success_timestamp_seconds",
     "Unix time at which the pods of this node were last known, in seconds; 0: never", kNodeName,
     OfPodInformer<&PodInformerStatus::last_success>, "seconds"},
    {"kepler_pod_informer_left_out_total",
     "Pods and containers that get no name, by kind: container, pod. The memory for names is full, or the pod has more "
     "than 1,000 containers or needs more than 1/16 of that memory",
     kNodeKind, PodInformerLeftOut},
    {"kepler_pod_informer_pods", "Pods of this node in the last answer", kNodeName,
     OfPodInformer<&PodInformerStatus::pods>},
    {"kepler_pod_informer_requests_total",
     "Requests to the kubelet or the API server for the pods of this node; only with kube.enabled", kNodeName,
     OfPodInformer<&PodInformerStatus::requests>},
    {"kepler_push_dropped_points_total",
     "Data points that never reached the server, by reason: queue_full (newer ones took the space of the queue), "
     "refused "
     "(the server refused their request), partial (the server accepted the rest of their request), file (a file could "
     "not be written, or one of the queue not read)",
     kExporterReason, OfPushReasons<status::PushDrop, &PushStatus::dropped_points>},
    {"kepler_push_failures_total",
     "Failed attempts to push, by reason: setup (headers file or certificates), connection, timeout (504 too), "
     "certificate (of the server), throttled (429, 503), server (other 5xx), refused (other status), answer (cannot be "
     "read), partial (some data points rejected), file (cannot be read or written)",
     kExporterReason, OfPushReasons<status::PushFailure, &PushStatus::failures>},
    {"kepler_push_last_success_timestamp_seconds",
     "Unix time of the last request that the server accepted, in seconds; 0: never", kExporter,
     OfPushes<&PushStatus::last_success>, "seconds"},
    {"kepler_push_points_total", "Data points that the server accepted; only with an exporter that pushes", kExporter,
     OfPushes<&PushStatus::points>},
    {"kepler_push_queue_bytes", "Size of the encoded requests in the queue, in bytes", kExporter,
     OfPushes<&PushStatus::queued_bytes>, "bytes"},
    {"kepler_push_queue_requests", "Encoded requests in the queue", kExporter, OfPushes<&PushStatus::queued_requests>},
    {"kepler_push_requests_total", "Requests that the server accepted", kExporter, OfPushes<&PushStatus::requests>},
    {"kepler_snapshot_interval_seconds", "Period over which watts are averaged, in seconds", kNodeName,
     OfSnapshot<&Snapshot::interval>, "seconds"},
    {"kepler_snapshot_timestamp_seconds", "Unix time at which the tick of this data started, in seconds", kNodeName,
     OfSnapshot<&Snapshot::taken_at>, "seconds"},
    {"kepler_source_failed_reads_total", "Failed reads of a source; a missing domain of a meter counts in each tick",
     kNodeSource, OfEverySource<&SourceStatus::failed_reads, &ActivityStatus::failed_reads>},
    {"kepler_source_interface_info",
     "Kernel interface that a source is read through: powercap, perf or msr; always 1; only rapl has several",
     kSourceInterface, SourceInterfaceInfo},
    {"kepler_source_last_success_timestamp_seconds",
     "Unix time of the last successful read of a source, in seconds; 0: never", kNodeSource,
     OfEverySource<&SourceStatus::last_success, &ActivityStatus::last_success>, "seconds"},
    {"kepler_source_rejected_joules_total",
     "Energy reported by a meter but rejected as physically impossible, in joules; not counted elsewhere", kNodeSource,
     OfSources<&SourceStatus::rejected_energy>, "joules"},
    {"kepler_source_rejected_readings_total", "Readings of a meter rejected as physically impossible", kNodeSource,
     OfSources<&SourceStatus::rejected_readings>},
    {"kepler_source_resets_total", "Counters of a meter that decreased without a wrap (driver reload, suspend)",
     kNodeSource, OfSources<&SourceStatus::resets>},
    {"kepler_source_restart_needed",
     "Whether a better meter became readable after startup (1 = yes); restart the agent to use it", kNodeSource,
     OfSources<&SourceStatus::restart_needed>},
    {"kepler_source_unknown_wraps_total",
     "Readings so late that the counter may have wrapped unnoticed; their energy is a lower bound", kNodeSource,
     OfSources<&SourceStatus::unknown_wraps>},
    {"kepler_source_up",
     "Whether the last read of a source succeeded (1 = yes); for a meter, of at least one of its domains (see "
     "kepler_source_zone_domains_read)",
     kNodeSource, OfEverySource<&SourceStatus::up, &ActivityStatus::up>},
    {"kepler_source_zone_domains", "Domains of the zone found so far: sockets, dies or sensors", kSourceZone,
     OfZoneDomains<&status::ZoneDomains::known>},
    {"kepler_source_zone_domains_read",
     "Domains of the zone read in the last tick. If one is missing and its CPUs are online, the zone has no watts",
     kSourceZone, OfZoneDomains<&status::ZoneDomains::read>},
    {"kepler_start_timestamp_seconds",
     "Unix time at which the agent started and all its totals were 0, in seconds; the same in every scrape until a "
     "restart",
     kNodeName, AgentStart, "seconds"},
    {"kepler_tick_cpu_seconds_total", "CPU time of the collection thread in ticks, in seconds", kNodeName,
     OfPipeline<&PipelineStatus::tick_cpu>, "seconds"},
    {"kepler_tick_seconds_total", "Wall time of ticks, in seconds", kNodeName, OfPipeline<&PipelineStatus::tick_time>,
     "seconds"},
    {"kepler_tick_skew_seconds",
     "Time between the activity reading and the energy reading of the last tick, in seconds", kNodeName,
     OfPipeline<&PipelineStatus::skew>, "seconds"},
    {"kepler_ticks_total", "Completed ticks", kNodeName, OfPipeline<&PipelineStatus::ticks>},
    {"kepler_unpublished_snapshots_total", "Ticks without a new snapshot because slow readers held all snapshots",
     kNodeName, OfPipeline<&PipelineStatus::unpublished>},
    {"kepler_workload_claims_refused_total",
     "Refused claims of an id that belongs to another workload, by kind. container, pod: the cgroup is counted under "
     "a separate id; vm: the process is counted as a plain process",
     kNodeKind, RefusedClaims},
    {"kepler_workload_model_info",
     "Model that splits the active energy of the zone among workloads, and the error that it states for the node; only "
     "with attribution.weights: model. kepler_attribution_info has method 'model' while it is in use. Always 1",
     kSharedBy, WorkloadModelInfo},
    {"process_cpu_seconds_total", "User and system CPU time of the agent in seconds", kNone, OfSelf<&SelfStatus::cpu>,
     "seconds", kProcessCollector, kCommon},
    {"process_max_fds", "File descriptors that the agent may open", kNone, OfSelf<&SelfStatus::max_fds>, "",
     kProcessCollector, kCommon},
    {"process_network_receive_bytes_total", "Bytes received in the agent's network namespace", kNone,
     OfSelfSinceBoot<&SelfStatus::network_receive_bytes>, "bytes", kProcessCollector, kCommon},
    {"process_network_transmit_bytes_total", "Bytes sent in the agent's network namespace", kNone,
     OfSelfSinceBoot<&SelfStatus::network_transmit_bytes>, "bytes", kProcessCollector, kCommon},
    {"process_open_fds", "File descriptors that the agent has open", kNone, OfSelf<&SelfStatus::open_fds>, "",
     kProcessCollector, kCommon},
    {"process_resident_memory_bytes", "Resident memory of the agent in bytes", kNone,
     OfSelf<&SelfStatus::resident_memory_bytes>, "bytes", kProcessCollector, kCommon},
    {"process_start_time_seconds", "When the agent started, as a Unix time", kNone, OfSelf<&SelfStatus::start_time>,
     "seconds", kProcessCollector, kCommon},
    {"process_virtual_memory_bytes", "Virtual memory of the agent in bytes", kNone,
     OfSelf<&SelfStatus::virtual_memory_bytes>, "bytes", kProcessCollector, kCommon},
    {"process_virtual_memory_max_bytes", "Virtual memory that the agent may use in bytes", kNone,
     OfSelf<&SelfStatus::virtual_memory_max_bytes>, "bytes", kProcessCollector, kCommon},
    {"promhttp_metric_handler_errors_total", "Errors of the /metrics handler by cause", kCause, HandlerErrors, "",
     kAlways, kCommon},
});
static_assert(IsValid(kAgentFamilies));

}  // namespace

std::span<const Family> AgentFamilies() { return kAgentFamilies; }

}  // namespace kepler::series
