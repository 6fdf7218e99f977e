#include "export/series/family_table.h"
#include "export/series/label_names.h"
#include "export/series/rows.h"
#include "export/series/workload_rows.h"

namespace kepler::series {
namespace {

using snapshot::Domain;
using snapshot::IdleBaseline;
using snapshot::Level;
using snapshot::NodeZone;
using snapshot::Snapshot;

// The HELP texts of Origin::kUpstream are part of its interface and stay as they are.
constexpr auto kEnergyFamilies = std::to_array<Family>({
    {"kepler_conservation_error_joules", kGauge,
     "Active energy minus what is listed, unlisted, unnamed and unattributed at a level; for the node total minus "
     "active minus idle; reads 0",
     kLevelZone, "joules", kAllLevels, kOwn, ConservationError},
    {"kepler_container_cache_miss_total", kCounter,
     "Misses of the last-level cache at container level; only where activity.counters counts", kContainerState, "",
     kContainer, kOwn, Events<&Snapshot::containers, true, &HardwareEvents::cache_misses>},
    {"kepler_container_cpu_cycles_total", kCounter,
     "Cycles of cpu at container level; only where activity.counters counts", kContainerState, "", kContainer, kOwn,
     Events<&Snapshot::containers, true, &HardwareEvents::cycles>},
    {"kepler_container_cpu_idle_joules_total", kCounter,
     "Share of the idle energy of cpu at container level, beside what the active energy says; only with "
     "attribution.idle: by-use or by-request",
     kContainerZone, "joules", kContainer, kOwn, IdleJoules<&Snapshot::containers, Level::kContainer>},
    {"kepler_container_cpu_instructions_total", kCounter,
     "Instructions of cpu at container level; only where activity.counters counts", kContainerState, "", kContainer,
     kOwn, Events<&Snapshot::containers, true, &HardwareEvents::instructions>},
    {"kepler_container_cpu_joules_total", kCounter, "Energy consumption of cpu at container level in joules",
     kContainerZone, "joules", kContainer, kUpstream, Joules<&Snapshot::containers>},
    {"kepler_container_cpu_seconds_total", kCounter, "Total user and system time of cpu at container level in seconds",
     kContainerState, "seconds", kContainer, kUpstream, Seconds<&Snapshot::containers, true>},
    {"kepler_container_cpu_watts", kGauge, "Power consumption of cpu at container level in watts", kContainerZone,
     "watts", kContainer, kUpstream, Watts<&Snapshot::containers>},
    {"kepler_node_cache_miss_total", kCounter,
     "Misses of the last-level cache of all processes together; only where activity.counters counts", kNodeName, "",
     kNode, kOwn, NodeEvents<&HardwareEvents::cache_misses>},
    {"kepler_node_cpu_active_joules_total", kCounter,
     "Energy consumption of cpu in active state at node level in joules", kNodeZone, "joules", kNode, kUpstream,
     NodeJoules<&NodeZone::active>},
    {"kepler_node_cpu_active_watts", kGauge, "Power consumption of cpu in active state at node level in watts",
     kNodeZone, "watts", kNode, kUpstream, NodeWatts<&NodeZone::active_power>},
    {"kepler_node_cpu_busy_ratio", kGauge,
     "CPU usage ratio of a node by each method: proc-stat (timer ticks, as upstream), exact (nanoseconds that ran)",
     kNodeMethod, "ratio", kNode, kOwn, NodeBusyRatio},
    {"kepler_node_cpu_cycles_total", kCounter, "Cycles of all processes together; only where activity.counters counts",
     kNodeName, "", kNode, kOwn, NodeEvents<&HardwareEvents::cycles>},
    {"kepler_node_cpu_idle_attribution_info", kGauge,
     "By what the idle energy of a zone is shared: cpu-time, cpu-requests, memory-requests; always 1; only with "
     "attribution.idle: by-use or by-request",
     kMethodZone, "", kNode, kOwn, IdleAttributionInfo},
    {"kepler_node_cpu_idle_baseline_info", kGauge,
     "How sure the idle baseline of a zone is: learning (there is none yet, the usage ratio splits), extrapolated "
     "(from power under load), measured (at a usage ratio of at most 5 %); always 1; only with attribution.split: "
     "baseline",
     kZoneConfidence, "", kNode, kOwn, NodeIdleBaselineInfo},
    {"kepler_node_cpu_idle_baseline_uncertainty_watts", kGauge,
     "About how far the idle baseline may be off: scatter, what was extrapolated, and a tenth of it for each day since "
     "it was last seen",
     kNodeZone, "watts", kNode, kOwn, NodeIdleBaseline<&IdleBaseline::uncertainty>},
    {"kepler_node_cpu_idle_baseline_watts", kGauge,
     "Power that a zone is taken to need without work, which is its idle power at any load; only with "
     "attribution.split: baseline, once it is known",
     kNodeZone, "watts", kNode, kOwn, NodeIdleBaseline<&IdleBaseline::power>},
    {"kepler_node_cpu_idle_joules_total", kCounter, "Energy consumption of cpu in idle state at node level in joules",
     kNodeZone, "joules", kNode, kUpstream, NodeJoules<&NodeZone::idle>},
    {"kepler_node_cpu_idle_unattributed_joules_total", kCounter,
     "Idle energy that no workload pays for: by-use because nobody ran or nobody knows who, by-request because nobody "
     "requested it or requests are not known yet; only with these",
     kNodeZone, "joules", kNode, kOwn, IdleUnattributedJoules},
    {"kepler_node_cpu_idle_unlisted_joules_total", kCounter,
     "Shared idle energy of a level that has no series, by the reasons of kepler_node_cpu_unlisted_joules_total; only "
     "with attribution.idle: by-use or by-request",
     kNodeUnlisted, "joules", kProcess | kContainer | kVm | kPod, kOwn, IdleUnlistedJoules},
    {"kepler_node_cpu_idle_unnamed_joules", kGauge,
     "Shared idle energy of containers and pods whose names the agent waits for, as "
     "kepler_node_cpu_unnamed_joules; only with attribution.idle: by-use or by-request",
     kNodeUnnamed, "joules", kContainer | kPod, kOwn, IdleUnnamedJoules},
    {"kepler_node_cpu_idle_watts", kGauge, "Power consumption of cpu in idle state at node level in watts", kNodeZone,
     "watts", kNode, kUpstream, NodeWatts<&NodeZone::idle_power>},
    {"kepler_node_cpu_info", kGauge, "CPU information from procfs", kCpu, "", kAlways, kUpstream, NodeCpuInfo},
    {"kepler_node_cpu_instructions_total", kCounter,
     "Instructions of all processes together; only where activity.counters counts", kNodeName, "", kNode, kOwn,
     NodeEvents<&HardwareEvents::instructions>},
    {"kepler_node_cpu_joules_total", kCounter, "Energy consumption of cpu at node level in joules", kNodeZone, "joules",
     kNode, kUpstream, NodeJoules<&NodeZone::total>},
    {"kepler_node_cpu_seconds_total", kCounter,
     "Busy time of all processors together: user, nice, system, irq, softirq, from the kernel's timer ticks", kNodeName,
     "seconds", kNode, kOwn, NodeCpuSeconds},
    {"kepler_node_cpu_unattributed_joules_total", kCounter,
     "Active energy that no workload caused or whose owner was lost", kNodeZone, "joules", kNode, kOwn,
     NodeUnattributedJoules},
    {"kepler_node_cpu_unattributed_seconds_total", kCounter, "CPU time that no workload used or whose owner was lost",
     kNodeName, "seconds", kNode, kOwn, OfSnapshot<&Snapshot::unattributed_cpu>},
    {"kepler_node_cpu_unlisted_joules_total", kCounter,
     "Active energy of a level that has no series: departed (its series ended), capped (used while it had no series, "
     "by "
     "most short-lived processes too), unseen (came and went between two scans), outside (belongs to nothing of the "
     "level)",
     kNodeUnlisted, "joules", kProcess | kContainer | kVm | kPod, kOwn, NodeUnlistedJoules},
    {"kepler_node_cpu_unnamed_joules", kGauge,
     "Energy of new containers and pods whose names the agent waits for, a few seconds at most: they have no series "
     "yet, and theirs begin with this energy; only where kube.enabled",
     kNodeUnnamed, "joules", kContainer | kPod, kOwn, NodeUnnamedJoules},
    {"kepler_node_cpu_usage_ratio", kGauge, "CPU usage ratio of a node (value between 0.0 and 1.0)", kNodeName, "ratio",
     kNode, kUpstream, OfSnapshot<&Snapshot::usage_ratio>},
    {"kepler_node_cpu_watts", kGauge, "Power consumption of cpu at node level in watts", kNodeZone, "watts", kNode,
     kUpstream, NodeWatts<&NodeZone::power>},
    {"kepler_node_energy_source_info", kGauge,
     "Which meter a zone is read from; path 'model' marks a modelled one; always 1", kZoneSource, "", kAlways, kOwn,
     EnergySourceInfo},
    {"kepler_node_platform_joules_total", kCounter,
     "Energy of the machine as a whole, at its power supply; path 'model' marks an estimate", kNodeZone, "joules",
     kNode, kOwn, NodeJoules<&NodeZone::total, Domain::kPlatform>},
    {"kepler_node_platform_watts", kGauge,
     "Power of the machine as a whole, at its power supply; path 'model' marks an estimate", kNodeZone, "watts", kNode,
     kOwn, NodeWatts<&NodeZone::power, Domain::kPlatform>},
    {"kepler_node_softirqs_total", kCounter,
     "Software interrupts that do input and output, on all processors: block, net_rx, net_tx", kNodeType, "", kNode,
     kOwn, NodeSoftirqs},
    {"kepler_pod_cpu_idle_joules_total", kCounter,
     "Share of the idle energy of cpu at pod level, beside what the active energy says; only with attribution.idle: "
     "by-use or by-request",
     kPodZone, "joules", kPod, kOwn, IdleJoules<&Snapshot::pods, Level::kPod>},
    {"kepler_pod_cpu_joules_total", kCounter, "Energy consumption of cpu at pod level in joules", kPodZone, "joules",
     kPod, kUpstream, Joules<&Snapshot::pods>},
    {"kepler_pod_cpu_watts", kGauge, "Power consumption of cpu at pod level in watts", kPodZone, "watts", kPod,
     kUpstream, Watts<&Snapshot::pods>},
    {"kepler_process_cache_miss_total", kCounter,
     "Misses of the last-level cache at process level; only where activity.counters counts", kProcessStateless, "",
     kProcess, kOwn, Events<&Snapshot::processes, false, &HardwareEvents::cache_misses>},
    {"kepler_process_cpu_cycles_total", kCounter, "Cycles of cpu at process level; only where activity.counters counts",
     kProcessStateless, "", kProcess, kOwn, Events<&Snapshot::processes, false, &HardwareEvents::cycles>},
    {"kepler_process_cpu_idle_joules_total", kCounter,
     "Share of the idle energy of cpu at process level, beside what the active energy says; only with "
     "attribution.idle: by-use",
     kProcessZone, "joules", kProcess, kOwn, IdleJoules<&Snapshot::processes, Level::kProcess>},
    {"kepler_process_cpu_instructions_total", kCounter,
     "Instructions of cpu at process level; only where activity.counters counts", kProcessStateless, "", kProcess, kOwn,
     Events<&Snapshot::processes, false, &HardwareEvents::instructions>},
    {"kepler_process_cpu_joules_total", kCounter, "Energy consumption of cpu at process level in joules", kProcessZone,
     "joules", kProcess, kUpstream, Joules<&Snapshot::processes>},
    {"kepler_process_cpu_seconds_total", kCounter, "Total user and system time of cpu at process level in seconds",
     kProcessStateless, "seconds", kProcess, kUpstream, Seconds<&Snapshot::processes, false>},
    {"kepler_process_cpu_watts", kGauge, "Power consumption of cpu at process level in watts", kProcessZone, "watts",
     kProcess, kUpstream, Watts<&Snapshot::processes>},
    {"kepler_vm_cpu_idle_joules_total", kCounter,
     "Share of the idle energy of cpu at vm level, beside what the active energy says; only with attribution.idle: "
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
