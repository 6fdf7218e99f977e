#include "export/series/family_table.h"
#include "export/series/label_names.h"
#include "export/series/rows.h"

namespace kepler::series {
namespace {

using snapshot::ActivityStatus;
using snapshot::AuditStatus;
using snapshot::EstimateStatus;
using snapshot::HttpStatus;
using snapshot::ModelStoreStatus;
using snapshot::PipelineStatus;
using snapshot::PodInformerStatus;
using snapshot::RecordCount;
using snapshot::SelfStatus;
using snapshot::Snapshot;
using snapshot::SourceStatus;

// The HELP texts of Origin::kUpstream are part of its interface and stay as they are.
constexpr auto kAgentFamilies = std::to_array<Family>({
    {"kepler_activity_audit_cgroups_total", kCounter,
     "Comparisons of what the processes of a cgroup were given with what the kernel says that it used, over at least a "
     "second of CPU time each",
     kNodeName, "", kAlways, kOwn, OfAudit<&AuditStatus::comparisons>},
    {"kepler_activity_audit_charged_seconds_total", kCounter,
     "CPU time that cgroups used and no known process did, given to them as unseen; with bpf: what no record reported",
     kNodeName, "seconds", kAlways, kOwn, OfAudit<&AuditStatus::charged>},
    {"kepler_activity_audit_last_timestamp_seconds", kGauge, "When usages of cgroups were compared last", kNodeName,
     "seconds", kAlways, kOwn, ActivityAuditLast},
    {"kepler_activity_audit_worst_ratio", kGauge,
     "The largest difference of a comparison of the last two minutes, before it was charged, as a share of what the "
     "cgroup used; with procfs: of what remains after unseen time was given out",
     kNodeName, "", kAlways, kOwn, OfAudit<&AuditStatus::worst_ratio>},
    {"kepler_activity_bpf_run_seconds_total", kCounter,
     "Time that the BPF programs ran; 0 unless kernel.bpf_stats_enabled=1 lets the kernel measure it; bpf only",
     kNodeName, "seconds", kAlways, kOwn, OfKernelSide<&ActivityStatus::program_time>},
    {"kepler_activity_bpf_runs_total", kCounter,
     "Runs of the BPF programs; 0 unless kernel.bpf_stats_enabled=1 lets the kernel count them; bpf only", kNodeName,
     "", kAlways, kOwn, OfKernelSide<&ActivityStatus::program_runs>},
    {"kepler_activity_cpu_time_info", kGauge,
     "Whether interrupts and stolen time are in the CPU time of the tasks that they hit (in-task), kept apart from it "
     "by the kernel (apart), or nobody says (unknown); always 1",
     kKeptApart, "", kAlways, kOwn, ActivityCpuTimeInfo},
    {"kepler_activity_dropped_total", kCounter,
     "What the kernel side could not report, by kind: records without room; unreported: tasks that ended without any "
     "record; skipped: runs that the kernel left out; slice: hardware events not known; moved: processes put into "
     "another cgroup; the time of tasks is unseen time of their cgroups; bpf only",
     kNodeKind, "", kAlways, kOwn, ActivityRecords<&RecordCount::dropped>},
    {"kepler_activity_failed_cgroup_reads_total", kCounter, "Cgroup files that could not be read", kNodeName, "",
     kAlways, kOwn, OfActivity<&ActivityStatus::failed_cgroup_reads>},
    {"kepler_activity_iterator_seconds_total", kCounter, "Time that the passes over all tasks took; bpf only",
     kNodeName, "seconds", kAlways, kOwn, OfKernelSide<&ActivityStatus::iterator_time>},
    {"kepler_activity_lost_seconds_total", kCounter,
     "CPU time whose owner was in a dropped record, where no cgroup tree shows whose it was; bpf only", kNodeName,
     "seconds", kAlways, kOwn, OfKernelSide<&ActivityStatus::lost>},
    {"kepler_activity_records_total", kCounter, "Records taken from the kernel side, by kind; bpf only", kNodeKind, "",
     kAlways, kOwn, ActivityRecords<&RecordCount::taken>},
    {"kepler_activity_source_info", kGauge, "Who says who was busy: bpf or procfs; always 1", kNodeSource, "", kAlways,
     kOwn, ActivitySourceInfo},
    {"kepler_activity_vanished_total", kCounter, "Processes that ended while they were being read, which is normal",
     kNodeName, "", kAlways, kOwn, OfActivity<&ActivityStatus::vanished>},
    {"kepler_attribution_info", kGauge,
     "By what the active energy of a zone was split (cpu-time, cycles, cycles-instructions-mix, cache-misses, model), "
     "and how the usage ratio is found (proc-stat, exact); always 1",
     kZoneMethod, "", kAlways, kOwn, AttributionInfo},
    {"kepler_build_info", kGauge, "A metric with a constant '1' value labeled with version information", kBuild, "",
     kAlways, kUpstream, BuildInfoRow},
    {"kepler_config_last_reload_success_timestamp_seconds", kGauge,
     "When the configuration or the web file was last taken in, at the start or later, as a Unix time", kNodeName,
     "seconds", kAlways, kOwn, OfHttp<&HttpStatus::reload_success>},
    {"kepler_config_last_reload_successful", kGauge,
     "Whether the latest attempts to take in the configuration and the web file worked", kNodeName, "", kAlways, kOwn,
     OfHttp<&HttpStatus::reload_successful>},
    {"kepler_cut_series", kGauge,
     "Samples that are not in this exposition because of exporter.prometheus.limits, by the limit: kernel_threads, "
     "max_processes, min_watts; only where there is one",
     kLimit, "", kProcess, kOwn, CutSeries},
    {"kepler_exposed_series", kGauge, "Samples in this exposition, this one included", kNodeName, "", kAlways, kOwn,
     OfExtras<&Extras::exposed_series>},
    {"kepler_failed_ticks_total", kCounter, "Ticks in which nothing could be listed", kNodeName, "", kAlways, kOwn,
     OfPipeline<&PipelineStatus::failed_ticks>},
    {"kepler_http_accept_errors_total", kCounter,
     "Times that no descriptor or memory was left for a new connection, which waits meanwhile", kNodeName, "", kAlways,
     kOwn, OfHttp<&HttpStatus::accept_errors>},
    {"kepler_http_connections_evicted_total", kCounter,
     "Connections closed at the limit in favour of a new one: they waited for a request, or their client had most "
     "connections",
     kNodeName, "", kAlways, kOwn, OfHttp<&HttpStatus::connections_evicted>},
    {"kepler_http_connections_refused_total", kCounter, "Connections over the limit, answered with 503", kNodeName, "",
     kAlways, kOwn, OfHttp<&HttpStatus::connections_refused>},
    {"kepler_http_connections_total", kCounter, "Connections to the agent", kNodeName, "", kAlways, kOwn,
     OfHttp<&HttpStatus::connections>},
    {"kepler_http_handshake_errors_total", kCounter, "TLS handshakes that failed", kNodeName, "", kAlways, kOwn,
     OfHttp<&HttpStatus::handshake_errors>},
    {"kepler_http_requests_denied_total", kCounter,
     "Requests that were not let in, by reason: no_credentials, password (or the user; both 401), backoff (429, too "
     "many failed logins of this client), rate_limit (429), busy (503, the password cannot be checked now)",
     kNodeReason, "", kAlways, kOwn, DeniedHttpRequests},
    {"kepler_http_requests_total", kCounter, "Requests to the agent", kNodeName, "", kAlways, kOwn,
     OfHttp<&HttpStatus::requests>},
    {"kepler_http_timeouts_total", kCounter, "Clients cut off because they were too slow", kNodeName, "", kAlways, kOwn,
     OfHttp<&HttpStatus::timeouts>},
    {"kepler_http_tls_certificate_expiry_timestamp_seconds", kGauge,
     "Until when the certificate is valid that is shown to clients, as a Unix time; only with TLS", kNodeName,
     "seconds", kAlways, kOwn, OfHttpWhereKnown<&HttpStatus::certificate_expiry>},
    {"kepler_log_lines_dropped_total", kCounter,
     "Log lines that were lost because they could not be written, or not as fast as they came", kNodeName, "", kAlways,
     kOwn, OfExtras<&Extras::log_lines_dropped>},
    {"kepler_missed_ticks_total", kCounter, "Deadlines that passed while a tick was running or the machine slept",
     kNodeName, "", kAlways, kOwn, OfPipeline<&PipelineStatus::missed_ticks>},
    {"kepler_model_clamped_total", kCounter,
     "Predictions that no machine can draw, or that say less than was measured of a part, and were changed; only where "
     "a model is in use",
     kNodeName, "", kAlways, kOwn, OfEstimates<&EstimateStatus::clamped>},
    {"kepler_model_extrapolated_total", kCounter,
     "Predictions for a node that does what the model was never trained on; only where a model is in use", kNodeName,
     "", kAlways, kOwn, OfEstimates<&EstimateStatus::extrapolated>},
    {"kepler_model_failed_refreshes_total", kCounter,
     "Attempts to read the trained models that there are, and that failed", kNodeName, "", kAlways, kOwn,
     OfModelStore<&ModelStoreStatus::failed_refreshes>},
    {"kepler_model_info", kGauge,
     "By which model a zone is estimated, how far it says itself that it is off (empty: nothing, for a machine like "
     "this), and whether its watts are of the machine, idle power too, or only of the load; source 'built-in' is the "
     "shipped one; always 1",
     kZoneModel, "", kAlways, kOwn, ModelInfo},
    {"kepler_model_last_success_timestamp_seconds", kGauge,
     "When a place of trained models was last looked at and nothing failed, as a Unix time; 0: never yet", kNodeName,
     "seconds", kAlways, kOwn, OfModelStore<&ModelStoreStatus::last_success>},
    {"kepler_model_prediction_seconds_total", kCounter,
     "Time that predictions took, which is part of the ticks; only where a model is in use", kNodeName, "seconds",
     kAlways, kOwn, OfEstimates<&EstimateStatus::prediction_time>},
    {"kepler_model_predictions_total", kCounter,
     "Predictions: one of each model in use in a tick, and with attribution.weights: model up to 16 for each zone; "
     "only where a model is in use",
     kNodeName, "", kAlways, kOwn, OfEstimates<&EstimateStatus::predictions>},
    {"kepler_model_refreshes_total", kCounter,
     "Attempts to read the trained models that there are; only where there is any place for them", kNodeName, "",
     kAlways, kOwn, OfModelStore<&ModelStoreStatus::refreshes>},
    {"kepler_models", kGauge, "Trained models that may be chosen from; only where there is any place for them",
     kNodeName, "", kAlways, kOwn, OfModelStore<&ModelStoreStatus::models>},
    {"kepler_pod_informer_failed_requests_total", kCounter,
     "Requests for the pods of this node that failed or did not return a list of pods", kNodeName, "", kAlways, kOwn,
     OfPodInformer<&PodInformerStatus::failed_requests>},
    {"kepler_pod_informer_info", kGauge,
     "Mode of kube.podInformer and the source of the names of pods that is in use: kubelet or apiserver; always 1; "
     "only where kube.enabled",
     kModeSource, "", kAlways, kOwn, PodInformerInfo},
    {"kepler_pod_informer_last_success_timestamp_seconds", kGauge,
     "When the pods of this node were last known; 0: never yet", kNodeName, "seconds", kAlways, kOwn,
     OfPodInformer<&PodInformerStatus::last_success>},
    {"kepler_pod_informer_left_out_total", kCounter,
     "Pods and containers that a list or an event has and that get no name because there is no room for it, by kind: "
     "container, pod",
     kNodeKind, "", kAlways, kOwn, PodInformerLeftOut},
    {"kepler_pod_informer_pods", kGauge, "Pods of this node in the last answer", kNodeName, "", kAlways, kOwn,
     OfPodInformer<&PodInformerStatus::pods>},
    {"kepler_pod_informer_requests_total", kCounter,
     "Requests for the pods of this node to the kubelet or the API server; only with kube.enabled", kNodeName, "",
     kAlways, kOwn, OfPodInformer<&PodInformerStatus::requests>},
    {"kepler_snapshot_interval_seconds", kGauge, "Time that the watts are the mean of", kNodeName, "seconds", kAlways,
     kOwn, OfSnapshot<&Snapshot::interval>},
    {"kepler_snapshot_timestamp_seconds", kGauge, "When the tick began that these figures come from, as a Unix time",
     kNodeName, "seconds", kAlways, kOwn, OfSnapshot<&Snapshot::taken_at>},
    {"kepler_source_failed_reads_total", kCounter,
     "Reads of a source that failed; a domain of a meter that is gone fails in every tick", kNodeSource, "", kAlways,
     kOwn, OfEverySource<&SourceStatus::failed_reads, &ActivityStatus::failed_reads>},
    {"kepler_source_last_success_timestamp_seconds", kGauge,
     "When a source was last read, as a Unix time; 0 before the first time", kNodeSource, "seconds", kAlways, kOwn,
     OfEverySource<&SourceStatus::last_success, &ActivityStatus::last_success>},
    {"kepler_source_rejected_joules_total", kCounter,
     "Energy that a meter claimed and physics refuses; it is not counted", kNodeSource, "joules", kAlways, kOwn,
     OfSources<&SourceStatus::rejected_energy>},
    {"kepler_source_rejected_readings_total", kCounter, "Readings of a meter that jumped more than physics allows",
     kNodeSource, "", kAlways, kOwn, OfSources<&SourceStatus::rejected_readings>},
    {"kepler_source_resets_total", kCounter, "Counters of a meter that fell without a wrap (driver reload, suspend)",
     kNodeSource, "", kAlways, kOwn, OfSources<&SourceStatus::resets>},
    {"kepler_source_restart_needed", kGauge,
     "Whether a meter can be read only since after the start and is better than the one in use: a restart takes it",
     kNodeSource, "", kAlways, kOwn, OfSources<&SourceStatus::restart_needed>},
    {"kepler_source_unknown_wraps_total", kCounter,
     "Readings of a meter so late that its counter may have wrapped unseen; their energy is a lower bound", kNodeSource,
     "", kAlways, kOwn, OfSources<&SourceStatus::unknown_wraps>},
    {"kepler_source_up", kGauge,
     "Whether a source answered when it was last read, a meter with at least one of its domains: whether with all of "
     "them says kepler_source_zone_domains_read",
     kNodeSource, "", kAlways, kOwn, OfEverySource<&SourceStatus::up, &ActivityStatus::up>},
    {"kepler_source_zone_domains", kGauge,
     "Sockets, dies or sensors that a zone is the sum of, as far as any was ever found", kSourceZone, "", kAlways, kOwn,
     OfZoneDomains<&snapshot::ZoneDomains::known>},
    {"kepler_source_zone_domains_read", kGauge,
     "Of these, how many gave a reading in the last tick; while one is missing the zone has no watts, unless its CPUs "
     "are offline",
     kSourceZone, "", kAlways, kOwn, OfZoneDomains<&snapshot::ZoneDomains::read>},
    {"kepler_tick_cpu_seconds_total", kCounter, "CPU time that the collection thread spent in ticks", kNodeName,
     "seconds", kAlways, kOwn, OfPipeline<&PipelineStatus::tick_cpu>},
    {"kepler_tick_seconds_total", kCounter, "Wall time that the agent spent in ticks", kNodeName, "seconds", kAlways,
     kOwn, OfPipeline<&PipelineStatus::tick_time>},
    {"kepler_tick_skew_seconds", kGauge, "Time between the activity and the energy reading of the last tick", kNodeName,
     "seconds", kAlways, kOwn, OfPipeline<&PipelineStatus::skew>},
    {"kepler_ticks_total", kCounter, "Ticks done", kNodeName, "", kAlways, kOwn, OfPipeline<&PipelineStatus::ticks>},
    {"kepler_unpublished_snapshots_total", kCounter,
     "Ticks without a new snapshot because slow readers held all of them", kNodeName, "", kAlways, kOwn,
     OfPipeline<&PipelineStatus::unpublished>},
    {"kepler_workload_claims_refused_total", kCounter,
     "Claims of an id that belongs to another workload, by kind: a cgroup that claims a container or pod is counted "
     "under an id of its own, a process that claims a vm as a plain process",
     kNodeKind, "", kAlways, kOwn, RefusedClaims},
    {"kepler_workload_model_info", kGauge,
     "Which model is asked how workloads share the active energy of a zone, and how far it says itself that it is off "
     "for the whole node; method 'model' of kepler_attribution_info says that it had an answer; only with "
     "attribution.weights: model; always 1",
     kSharedBy, "", kAlways, kOwn, WorkloadModelInfo},
    {"process_cpu_seconds_total", kCounter, "User and system CPU time of the agent in seconds", kNone, "seconds",
     kProcessCollector, kCommon, OfSelf<&SelfStatus::cpu>},
    {"process_max_fds", kGauge, "File descriptors that the agent may open", kNone, "", kProcessCollector, kCommon,
     OfSelf<&SelfStatus::max_fds>},
    {"process_network_receive_bytes_total", kCounter, "Bytes received in the agent's network namespace", kNone, "bytes",
     kProcessCollector, kCommon, OfSelfWhereKnown<&SelfStatus::network_receive_bytes>},
    {"process_network_transmit_bytes_total", kCounter, "Bytes sent in the agent's network namespace", kNone, "bytes",
     kProcessCollector, kCommon, OfSelfWhereKnown<&SelfStatus::network_transmit_bytes>},
    {"process_open_fds", kGauge, "File descriptors that the agent has open", kNone, "", kProcessCollector, kCommon,
     OfSelf<&SelfStatus::open_fds>},
    {"process_resident_memory_bytes", kGauge, "Resident memory of the agent in bytes", kNone, "bytes",
     kProcessCollector, kCommon, OfSelf<&SelfStatus::resident_memory_bytes>},
    {"process_start_time_seconds", kGauge, "When the agent started, as a Unix time", kNone, "seconds",
     kProcessCollector, kCommon, OfSelf<&SelfStatus::start_time>},
    {"process_virtual_memory_bytes", kGauge, "Virtual memory of the agent in bytes", kNone, "bytes", kProcessCollector,
     kCommon, OfSelf<&SelfStatus::virtual_memory_bytes>},
    {"process_virtual_memory_max_bytes", kGauge, "Virtual memory that the agent may use in bytes", kNone, "bytes",
     kProcessCollector, kCommon, OfSelf<&SelfStatus::virtual_memory_max_bytes>},
    {"promhttp_metric_handler_errors_total", kCounter, "Errors of the /metrics handler by cause", kCause, "", kAlways,
     kCommon, HandlerErrors},
});
static_assert(IsValid(kAgentFamilies));

}  // namespace

std::span<const Family> AgentFamilies() { return kAgentFamilies; }

}  // namespace kepler::series
