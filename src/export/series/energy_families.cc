#include "export/series/family_table.h"
#include "export/series/label_names.h"
#include "export/series/rows.h"
#include "export/series/workload_rows.h"

namespace kepler::series {
namespace {

using snapshot::IdleBaseline;
using snapshot::Level;
using snapshot::NodeZone;
using snapshot::Snapshot;
using status::Domain;

// The HELP texts of Origin::kUpstream are part of its interface and must not change.
constexpr auto kEnergyFamilies = std::to_array<Family>({
    {"kepler_conservation_error_joules", kGauge,
     "Difference in the energy balance, always 0. Per level: active energy minus listed, unlisted, unnamed and "
     "unattributed energy; for the node: total minus active minus idle energy",
     kLevelZone, "joules", kAllLevels, kOwn, ConservationError},
    {"kepler_container_cache_miss_total", kCounter,
     "Last-level cache misses at container level; only if activity.counters is on", kContainerState, "", kContainer,
     kOwn, Events<&Snapshot::containers, true, &HardwareEvents::cache_misses>},
    {"kepler_container_cpu_cycles_total", kCounter, "CPU cycles at container level; only if activity.counters is on",
     kContainerState, "", kContainer, kOwn, Events<&Snapshot::containers, true, &HardwareEvents::cycles>},
    {"kepler_container_cpu_idle_joules_total", kCounter,
     "Share of idle CPU energy at container level, in joules, not part of the active energy; only with "
     "attribution.idle: by-use or by-request",
     kContainerZone, "joules", kContainer, kOwn, IdleJoules<&Snapshot::containers, Level::kContainer>},
    {"kepler_container_cpu_instructions_total", kCounter,
     "CPU instructions at container level; only if activity.counters is on", kContainerState, "", kContainer, kOwn,
     Events<&Snapshot::containers, true, &HardwareEvents::instructions>},
    {"kepler_container_cpu_joules_total", kCounter, "Energy consumption of cpu at container level in joules",
     kContainerZone, "joules", kContainer, kUpstream, Joules<&Snapshot::containers>},
    {"kepler_container_cpu_seconds_total", kCounter, "Total user and system time of cpu at container level in seconds",
     kContainerState, "seconds", kContainer, kUpstream, Seconds<&Snapshot::containers, true>},
    {"kepler_container_cpu_watts", kGauge, "Power consumption of cpu at container level in watts", kContainerZone,
     "watts", kContainer, kUpstream, Watts<&Snapshot::containers>},
    {"kepler_node_cache_miss_total", kCounter,
     "Last-level cache misses of all processes; only if activity.counters is on", kNodeName, "", kNode, kOwn,
     NodeEvents<&HardwareEvents::cache_misses>},
    {"kepler_node_cpu_active_joules_total", kCounter,
     "Energy consumption of cpu in active state at node level in joules", kNodeZone, "joules", kNode, kUpstream,
     NodeJoules<&NodeZone::active>},
    {"kepler_node_cpu_active_watts", kGauge, "Power consumption of cpu in active state at node level in watts",
     kNodeZone, "watts", kNode, kUpstream, NodeWatts<&NodeZone::active_power>},
    {"kepler_node_cpu_busy_ratio", kGauge,
     "CPU usage ratio of the node by method: proc-stat (timer ticks, as upstream), exact (CPU time in nanoseconds)",
     kNodeMethod, "ratio", kNode, kOwn, NodeBusyRatio},
    {"kepler_node_cpu_cycles_total", kCounter, "CPU cycles of all processes; only if activity.counters is on",
     kNodeName, "", kNode, kOwn, NodeEvents<&HardwareEvents::cycles>},
    {"kepler_node_cpu_idle_attribution_info", kGauge,
     "Method used to share the idle energy of the zone: cpu-time, cpu-requests or memory-requests; always 1; only "
     "with attribution.idle: by-use or by-request",
     kMethodZone, "", kNode, kOwn, IdleAttributionInfo},
    {"kepler_node_cpu_idle_baseline_info", kGauge,
     "State of the idle baseline of the zone: learning (no baseline yet; the usage ratio splits energy), "
     "extrapolated (from power under load), measured (at a usage ratio of at most 5 %); always 1; only with "
     "attribution.split: baseline",
     kZoneConfidence, "", kNode, kOwn, NodeIdleBaselineInfo},
    {"kepler_node_cpu_idle_baseline_uncertainty_watts", kGauge,
     "Uncertainty of the idle baseline, in watts (scatter, extrapolation and age)", kNodeZone, "watts", kNode, kOwn,
     NodeIdleBaseline<&IdleBaseline::uncertainty>},
    {"kepler_node_cpu_idle_baseline_watts", kGauge,
     "Learned idle power of the zone, in watts, the same at any load; only with attribution.split: baseline", kNodeZone,
     "watts", kNode, kOwn, NodeIdleBaseline<&IdleBaseline::power>},
    {"kepler_node_cpu_idle_joules_total", kCounter, "Energy consumption of cpu in idle state at node level in joules",
     kNodeZone, "joules", kNode, kUpstream, NodeJoules<&NodeZone::idle>},
    {"kepler_node_cpu_idle_unattributed_joules_total", kCounter,
     "Idle energy without an owner, in joules. by-use: nothing ran or its owner is unknown; by-request: not "
     "requested, or requests not known yet; only with attribution.idle: by-use or by-request",
     kNodeZone, "joules", kNode, kOwn, IdleUnattributedJoules},
    {"kepler_node_cpu_idle_unlisted_joules_total", kCounter,
     "Shared idle energy without a series at the level, in joules; reasons as in "
     "kepler_node_cpu_unlisted_joules_total; only with attribution.idle: by-use or by-request",
     kNodeUnlisted, "joules", kProcess | kContainer | kVm | kPod, kOwn, IdleUnlistedJoules},
    {"kepler_node_cpu_idle_unnamed_joules", kGauge,
     "Shared idle energy of containers and pods that wait for their names, in joules, as "
     "kepler_node_cpu_unnamed_joules; only with attribution.idle: by-use or by-request",
     kNodeUnnamed, "joules", kContainer | kPod, kOwn, IdleUnnamedJoules},
    {"kepler_node_cpu_idle_watts", kGauge, "Power consumption of cpu in idle state at node level in watts", kNodeZone,
     "watts", kNode, kUpstream, NodeWatts<&NodeZone::idle_power>},
    {"kepler_node_cpu_info", kGauge, "CPU information from procfs", kCpu, "", kAlways, kUpstream, NodeCpuInfo},
    {"kepler_node_cpu_instructions_total", kCounter,
     "CPU instructions of all processes; only if activity.counters is on", kNodeName, "", kNode, kOwn,
     NodeEvents<&HardwareEvents::instructions>},
    {"kepler_node_cpu_joules_total", kCounter, "Energy consumption of cpu at node level in joules", kNodeZone, "joules",
     kNode, kUpstream, NodeJoules<&NodeZone::total>},
    {"kepler_node_cpu_seconds_total", kCounter,
     "Busy time of all CPUs, in seconds, from the kernel's timer ticks: user, nice, system, irq, softirq", kNodeName,
     "seconds", kNode, kOwn, NodeCpuSeconds},
    {"kepler_node_cpu_unattributed_joules_total", kCounter,
     "Active energy that no workload caused or whose owner was lost, in joules", kNodeZone, "joules", kNode, kOwn,
     NodeUnattributedJoules},
    {"kepler_node_cpu_unattributed_seconds_total", kCounter,
     "CPU time that no workload used or whose owner was lost, in seconds", kNodeName, "seconds", kNode, kOwn,
     OfSnapshot<&Snapshot::unattributed_cpu>},
    {"kepler_node_cpu_unlisted_joules_total", kCounter,
     "Active energy without a series at the level, in joules: departed (the series ended), capped (used while the "
     "workload had no series, as by most short-lived processes), unseen (used by unknown processes between two "
     "scans), outside (not part of any workload of the level)",
     kNodeUnlisted, "joules", kProcess | kContainer | kVm | kPod, kOwn, NodeUnlistedJoules},
    {"kepler_node_cpu_unnamed_joules", kGauge,
     "Energy of new containers and pods that wait a few seconds for their names, in joules. They have no series yet; "
     "their series will start with this energy; only with kube.enabled",
     kNodeUnnamed, "joules", kContainer | kPod, kOwn, NodeUnnamedJoules},
    {"kepler_node_cpu_usage_ratio", kGauge, "CPU usage ratio of a node (value between 0.0 and 1.0)", kNodeName, "ratio",
     kNode, kUpstream, OfSnapshot<&Snapshot::usage_ratio>},
    {"kepler_node_cpu_watts", kGauge, "Power consumption of cpu at node level in watts", kNodeZone, "watts", kNode,
     kUpstream, NodeWatts<&NodeZone::power>},
    {"kepler_node_energy_source_info", kGauge,
     "Meter that the zone is read from; path 'model' marks an estimate; always 1", kZoneSource, "", kAlways, kOwn,
     EnergySourceInfo},
    {"kepler_node_platform_joules_total", kCounter,
     "Energy of the whole machine at its power supply, in joules; path 'model' marks an estimate", kNodeZone, "joules",
     kNode, kOwn, NodeJoules<&NodeZone::total, Domain::kPlatform>},
    {"kepler_node_platform_watts", kGauge,
     "Power of the whole machine at its power supply, in watts; path 'model' marks an estimate", kNodeZone, "watts",
     kNode, kOwn, NodeWatts<&NodeZone::power, Domain::kPlatform>},
    {"kepler_node_softirqs_total", kCounter,
     "Software interrupts for input and output on all CPUs: block, net_rx, net_tx", kNodeType, "", kNode, kOwn,
     NodeSoftirqs},
    {"kepler_pod_cpu_idle_joules_total", kCounter,
     "Share of idle CPU energy at pod level, in joules, not part of the active energy; only with attribution.idle: "
     "by-use or by-request",
     kPodZone, "joules", kPod, kOwn, IdleJoules<&Snapshot::pods, Level::kPod>},
    {"kepler_pod_cpu_joules_total", kCounter, "Energy consumption of cpu at pod level in joules", kPodZone, "joules",
     kPod, kUpstream, Joules<&Snapshot::pods>},
    {"kepler_pod_cpu_watts", kGauge, "Power consumption of cpu at pod level in watts", kPodZone, "watts", kPod,
     kUpstream, Watts<&Snapshot::pods>},
    {"kepler_process_cache_miss_total", kCounter,
     "Last-level cache misses at process level; only if activity.counters is on", kProcessStateless, "", kProcess, kOwn,
     Events<&Snapshot::processes, false, &HardwareEvents::cache_misses>},
    {"kepler_process_cpu_cycles_total", kCounter, "CPU cycles at process level; only if activity.counters is on",
     kProcessStateless, "", kProcess, kOwn, Events<&Snapshot::processes, false, &HardwareEvents::cycles>},
    {"kepler_process_cpu_idle_joules_total", kCounter,
     "Share of idle CPU energy at process level, in joules, not part of the active energy; only with "
     "attribution.idle: by-use",
     kProcessZone, "joules", kProcess, kOwn, IdleJoules<&Snapshot::processes, Level::kProcess>},
    {"kepler_process_cpu_instructions_total", kCounter,
     "CPU instructions at process level; only if activity.counters is on", kProcessStateless, "", kProcess, kOwn,
     Events<&Snapshot::processes, false, &HardwareEvents::instructions>},
    {"kepler_process_cpu_joules_total", kCounter, "Energy consumption of cpu at process level in joules", kProcessZone,
     "joules", kProcess, kUpstream, Joules<&Snapshot::processes>},
    {"kepler_process_cpu_seconds_total", kCounter, "Total user and system time of cpu at process level in seconds",
     kProcessStateless, "seconds", kProcess, kUpstream, Seconds<&Snapshot::processes, false>},
    {"kepler_process_cpu_watts", kGauge, "Power consumption of cpu at process level in watts", kProcessZone, "watts",
     kProcess, kUpstream, Watts<&Snapshot::processes>},
    {"kepler_vm_cpu_idle_joules_total", kCounter,
     "Share of idle CPU energy at vm level, in joules, not part of the active energy; only with attribution.idle: "
     "by-use",
     kVmZone, "joules", kVm, kOwn, IdleJoules<&Snapshot::vms, Level::kVm>},
    {"kepler_vm_cpu_joules_total", kCounter, "Energy consumption of cpu at vm level in joules", kVmZone, "joules", kVm,
     kUpstream, Joules<&Snapshot::vms>},
    {"kepler_vm_cpu_watts", kGauge, "Power consumption of cpu at vm level in watts", kVmZone, "watts", kVm, kUpstream,
     Watts<&Snapshot::vms>},
});
static_assert(IsValid(kEnergyFamilies));

}  // namespace

std::span<const Family> EnergyFamilies() { return kEnergyFamilies; }

}  // namespace kepler::series
