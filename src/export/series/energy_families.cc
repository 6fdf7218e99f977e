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
using status::NodeFeatures;

constexpr uint32_t kWorkloads = kAllLevels & ~uint32_t{kNode};
constexpr uint32_t kNameable = kContainer | kPod | kNamespace | kOwner;

// The HELP texts of Origin::kUpstream are part of its interface and must not change.
constexpr auto kEnergyFamilies = std::to_array<Family>({
    {"kepler_conservation_error_joules",
     "Difference in the energy balance, always 0. Per level: active energy minus listed, unlisted, unnamed and "
     "unattributed energy; for the node: total minus active minus idle energy",
     kLevelZone, ConservationError, "joules", kAllLevels},
    {"kepler_container_cache_miss_total", "Last-level cache misses at container level; only if activity.counters is on",
     kContainerState, Events<&Snapshot::containers, true, &HardwareEvents::cache_misses>, "", kContainer},
    {"kepler_container_cpu_cycles_total", "CPU cycles at container level; only if activity.counters is on",
     kContainerState, Events<&Snapshot::containers, true, &HardwareEvents::cycles>, "", kContainer},
    {"kepler_container_cpu_idle_joules_total",
     "Share of idle CPU energy at container level, in joules, not part of the active energy; only with "
     "attribution.idle: by-use or by-request",
     kContainerZone, IdleJoules<&Snapshot::containers, Level::kContainer>, "joules", kContainer},
    {"kepler_container_cpu_instructions_total", "CPU instructions at container level; only if activity.counters is on",
     kContainerState, Events<&Snapshot::containers, true, &HardwareEvents::instructions>, "", kContainer},
    {"kepler_container_cpu_joules_total", "Energy consumption of cpu at container level in joules", kContainerZone,
     Joules<&Snapshot::containers>, "joules", kContainer, kUpstream},
    {"kepler_container_cpu_seconds_total", "Total user and system time of cpu at container level in seconds",
     kContainerState, Seconds<&Snapshot::containers, true>, "seconds", kContainer, kUpstream},
    {"kepler_container_cpu_watts", "Power consumption of cpu at container level in watts", kContainerZone,
     Watts<&Snapshot::containers>, "watts", kContainer, kUpstream},
    {"kepler_container_state_info",
     "State of the container: running or terminated; always 1; only with exporter.prometheus.exactTotals",
     kContainerState, States<&Snapshot::containers>, "", kContainer},
    {"kepler_namespace_cpu_idle_joules_total",
     "Share of idle CPU energy of all pods that a namespace had on this node, in joules; only with kube.enabled and "
     "attribution.idle: by-use or by-request",
     kNamespaceZone, NamespaceIdleJoules, "joules", kNamespace},
    {"kepler_namespace_cpu_joules_total",
     "Active CPU energy of all pods that a namespace had on this node, ended ones included, in joules; only with "
     "kube.enabled",
     kNamespaceZone, NamespaceJoules, "joules", kNamespace},
    {"kepler_node_cache_miss_total", "Last-level cache misses of all processes; only if activity.counters is on",
     kNodeName, NodeEvents<&HardwareEvents::cache_misses>, "", kNode},
    {"kepler_node_context_switches_total", "Context switches on all CPUs", kNodeName,
     NodeFeature<&NodeFeatures::context_switches>, "", kNode},
    {"kepler_node_cpu_active_joules_total", "Energy consumption of cpu in active state at node level in joules",
     kNodeZone, NodeJoules<&NodeZone::active>, "joules", kNode, kUpstream},
    {"kepler_node_cpu_active_watts", "Power consumption of cpu in active state at node level in watts", kNodeZone,
     NodeWatts<&NodeZone::active_power>, "watts", kNode, kUpstream},
    {"kepler_node_cpu_busy_ratio",
     "CPU usage ratio of the node by method: proc-stat (timer ticks, as upstream), exact (CPU time in nanoseconds)",
     kNodeMethod, NodeBusyRatio, "ratio", kNode},
    {"kepler_node_cpu_cycles_total", "CPU cycles of all processes; only if activity.counters is on", kNodeName,
     NodeEvents<&HardwareEvents::cycles>, "", kNode},
    {"kepler_node_cpu_idle_attribution_info",
     "Method used to share the idle energy of the zone: cpu-time, cpu-requests or memory-requests; always 1; only "
     "with attribution.idle: by-use or by-request",
     kMethodZone, IdleAttributionInfo, "", kNode},
    {"kepler_node_cpu_idle_baseline_info",
     "State of the idle baseline of the zone: learning (no baseline yet; the usage ratio splits energy), "
     "extrapolated (from power under load), measured (at a usage ratio of at most 5 %); always 1; only with "
     "attribution.split: baseline",
     kZoneConfidence, NodeIdleBaselineInfo, "", kNode},
    {"kepler_node_cpu_idle_baseline_uncertainty_watts",
     "Uncertainty of the idle baseline, in watts (scatter, extrapolation and age)", kNodeZone,
     NodeIdleBaseline<&IdleBaseline::uncertainty>, "watts", kNode},
    {"kepler_node_cpu_idle_baseline_watts",
     "Learned idle power of the zone, in watts, the same at any load; only with attribution.split: baseline", kNodeZone,
     NodeIdleBaseline<&IdleBaseline::power>, "watts", kNode},
    {"kepler_node_cpu_idle_joules_total", "Energy consumption of cpu in idle state at node level in joules", kNodeZone,
     NodeJoules<&NodeZone::idle>, "joules", kNode, kUpstream},
    {"kepler_node_cpu_idle_unattributed_joules_total",
     "Idle energy without an owner, in joules. by-use: nothing ran or its owner is unknown; by-request: not "
     "requested, or requests not known yet; only with attribution.idle: by-use or by-request",
     kNodeZone, IdleUnattributedJoules, "joules", kNode},
    {"kepler_node_cpu_idle_unlisted_joules_total",
     "Shared idle energy without a series at the level, in joules; reasons as in "
     "kepler_node_cpu_unlisted_joules_total; only with attribution.idle: by-use or by-request",
     kNodeUnlisted, IdleUnlistedJoules, "joules", kWorkloads},
    {"kepler_node_cpu_idle_unnamed_joules",
     "Shared idle energy of containers and pods that wait for their names, in joules, as "
     "kepler_node_cpu_unnamed_joules; only with attribution.idle: by-use or by-request",
     kNodeUnnamed, IdleUnnamedJoules, "joules", kNameable},
    {"kepler_node_cpu_idle_watts", "Power consumption of cpu in idle state at node level in watts", kNodeZone,
     NodeWatts<&NodeZone::idle_power>, "watts", kNode, kUpstream},
    {"kepler_node_cpu_info", "CPU information from procfs", kCpu, NodeCpuInfo, "", kAlways, kUpstream},
    {"kepler_node_cpu_instructions_total", "CPU instructions of all processes; only if activity.counters is on",
     kNodeName, NodeEvents<&HardwareEvents::instructions>, "", kNode},
    {"kepler_node_cpu_joules_total", "Energy consumption of cpu at node level in joules", kNodeZone,
     NodeJoules<&NodeZone::total>, "joules", kNode, kUpstream},
    {"kepler_node_cpu_seconds_total",
     "Busy time of all CPUs, in seconds, from the kernel's timer ticks: user, nice, system, irq, softirq", kNodeName,
     NodeCpuSeconds, "seconds", kNode},
    {"kepler_node_cpu_steal_seconds_total",
     "Time in which a virtual CPU of this guest was ready, but the hypervisor ran others, in seconds", kNodeName,
     NodeSteal, "seconds", kNode},
    {"kepler_node_cpu_unattributed_joules_total",
     "Active energy that no workload caused or whose owner was lost, in joules", kNodeZone, NodeUnattributedJoules,
     "joules", kNode},
    {"kepler_node_cpu_unattributed_seconds_total", "CPU time that no workload used or whose owner was lost, in seconds",
     kNodeName, OfSnapshot<&Snapshot::unattributed_cpu>, "seconds", kNode},
    {"kepler_node_cpu_unlisted_joules_total",
     "Active energy without a series at the level, in joules: departed (the series ended), capped (used while the "
     "workload had no series, as by most short-lived processes), unseen (used by unknown processes between two "
     "scans, by pods that ended before they had a name, or by processes of an unknown user), outside (not part of any "
     "workload of the level)",
     kNodeUnlisted, NodeUnlistedJoules, "joules", kWorkloads},
    {"kepler_node_cpu_unnamed_joules",
     "Energy of new containers and pods that wait a few seconds for their names, in joules. They have no series yet; "
     "their series will start with this energy; only with kube.enabled",
     kNodeUnnamed, NodeUnnamedJoules, "joules", kNameable},
    {"kepler_node_cpu_usage_ratio", "CPU usage ratio of a node (value between 0.0 and 1.0)", kNodeName,
     OfSnapshot<&Snapshot::usage_ratio>, "ratio", kNode, kUpstream},
    {"kepler_node_cpu_watts", "Power consumption of cpu at node level in watts", kNodeZone, NodeWatts<&NodeZone::power>,
     "watts", kNode, kUpstream},
    {"kepler_node_cpus", "Online CPUs of the node", kNodeName, NodeFeature<&NodeFeatures::cpus>, "", kNode},
    {"kepler_node_energy_source_info", "Meter that the zone is read from; path 'model' marks an estimate; always 1",
     kZoneSource, EnergySourceInfo},
    {"kepler_node_memory_used_bytes", "Memory that is not available to new programs, in bytes", kNodeName,
     NodeFeature<&NodeFeatures::used_memory>, "bytes", kNode},
    {"kepler_node_other_debt_joules",
     "Part of kepler_node_other_joules_total that the platform meter has not shown yet, in joules: other - debt + "
     "package "
     "+ dram grows as much as platform",
     kNodeName, OtherJoules<&status::OtherEnergy::debt>, "joules", kNode},
    {"kepler_node_other_joules_total",
     "Energy of the machine without package and dram, in joules: fans, disks, network cards, losses of the power "
     "supply; "
     "only with a platform meter and a CPU meter",
     kNodeName, OtherJoules<&status::OtherEnergy::energy>, "joules", kNode},
    {"kepler_node_page_faults_total", "Page faults of all processes, minor and major", kNodeName,
     NodeFeature<&NodeFeatures::page_faults>, "", kNode},
    {"kepler_node_platform_joules_total",
     "Energy of the whole machine at its power supply, in joules; path 'model' marks an estimate", kNodeZone,
     NodeJoules<&NodeZone::total, Domain::kPlatform>, "joules", kNode},
    {"kepler_node_platform_sensor_info",
     "Sensor of the meter that kepler_node_platform_joules_total is read from; always 1", kPlatformSensor,
     PlatformSensorInfo, "", kNode},
    {"kepler_node_platform_watts",
     "Power of the whole machine at its power supply, in watts; path 'model' marks an estimate", kNodeZone,
     NodeWatts<&NodeZone::power, Domain::kPlatform>, "watts", kNode},
    {"kepler_node_softirqs_total", "Software interrupts for input and output on all CPUs: block, net_rx, net_tx",
     kNodeType, NodeSoftirqs, "", kNode},
    {"kepler_owner_cpu_idle_joules_total",
     "Share of idle CPU energy of all pods that a controller had on this node, in joules; only with kube.enabled and "
     "attribution.idle: by-use or by-request",
     kOwnerZone, OwnerIdleJoules, "joules", kOwner},
    {"kepler_owner_cpu_joules_total",
     "Active CPU energy of all pods that a controller (Deployment, StatefulSet, DaemonSet, Job, ...) had on this node, "
     "ended ones included, in joules; pods without a controller have an empty owner; only with kube.enabled",
     kOwnerZone, OwnerJoules, "joules", kOwner},
    {"kepler_platform_counter_difference_joules",
     "Energy by the sensor's own energy counter minus the integral of its power, since the first reading, in joules. "
     "As "
     "accurate as the counter, whose step may be 1 kWh",
     kPlatformSensor, PlatformCounterDifference, "joules", kNode},
    {"kepler_platform_counter_refused_total",
     "Steps of the sensor's own energy counter that were refused: it decreased, or moved too far", kPlatformSensor,
     PlatformCounterRefused, "", kNode},
    {"kepler_platform_joules_total",
     "Energy of one sensor of a platform meter, in joules. Several sensors may measure the same energy: the total of "
     "the "
     "machine is kepler_node_platform_joules_total",
     kPlatformSensor, PlatformJoules, "joules", kNode},
    {"kepler_platform_watts", "Current platform power in watts from BMC (PowerSubsystem or deprecated Power API)",
     kPlatformSensor, PlatformWatts, "watts", kNode, kUpstream},
    {"kepler_pod_cpu_idle_joules_total",
     "Share of idle CPU energy at pod level, in joules, not part of the active energy; only with attribution.idle: "
     "by-use or by-request",
     kPodZone, IdleJoules<&Snapshot::pods, Level::kPod>, "joules", kPod},
    {"kepler_pod_cpu_joules_total", "Energy consumption of cpu at pod level in joules", kPodZone,
     Joules<&Snapshot::pods>, "joules", kPod, kUpstream},
    {"kepler_pod_cpu_watts", "Power consumption of cpu at pod level in watts", kPodZone, Watts<&Snapshot::pods>,
     "watts", kPod, kUpstream},
    {"kepler_pod_state_info",
     "State of the pod: running or terminated; always 1; only with exporter.prometheus.exactTotals", kPodState,
     States<&Snapshot::pods>, "", kPod},
    {"kepler_process_cache_miss_total", "Last-level cache misses at process level; only if activity.counters is on",
     kProcessStateless, Events<&Snapshot::processes, false, &HardwareEvents::cache_misses>, "", kProcess},
    {"kepler_process_cpu_cycles_total", "CPU cycles at process level; only if activity.counters is on",
     kProcessStateless, Events<&Snapshot::processes, false, &HardwareEvents::cycles>, "", kProcess},
    {"kepler_process_cpu_idle_joules_total",
     "Share of idle CPU energy at process level, in joules, not part of the active energy; only with "
     "attribution.idle: by-use",
     kProcessZone, IdleJoules<&Snapshot::processes, Level::kProcess>, "joules", kProcess},
    {"kepler_process_cpu_instructions_total", "CPU instructions at process level; only if activity.counters is on",
     kProcessStateless, Events<&Snapshot::processes, false, &HardwareEvents::instructions>, "", kProcess},
    {"kepler_process_cpu_joules_total", "Energy consumption of cpu at process level in joules", kProcessZone,
     Joules<&Snapshot::processes>, "joules", kProcess, kUpstream},
    {"kepler_process_cpu_seconds_total", "Total user and system time of cpu at process level in seconds",
     kProcessStateless, Seconds<&Snapshot::processes, false>, "seconds", kProcess, kUpstream},
    {"kepler_process_cpu_watts", "Power consumption of cpu at process level in watts", kProcessZone,
     Watts<&Snapshot::processes>, "watts", kProcess, kUpstream},
    {"kepler_process_state_info",
     "State of the process: running or terminated; always 1; only with exporter.prometheus.exactTotals", kProcessState,
     States<&Snapshot::processes>, "", kProcess},
    {"kepler_user_cpu_idle_joules_total",
     "Share of idle CPU energy of all processes that a user had on this node, in joules; only with attribution.idle: "
     "by-use",
     kUserZone, UserIdleJoules, "joules", kUser},
    {"kepler_user_cpu_joules_total",
     "Active CPU energy of all processes that a Unix user (real uid of the host) had on this node, ended and "
     "short-lived ones included, in joules; user: name in the host's /etc/passwd, empty if unknown",
     kUserZone, UserJoules, "joules", kUser},
    {"kepler_vm_cpu_idle_joules_total",
     "Share of idle CPU energy at vm level, in joules, not part of the active energy; only with attribution.idle: "
     "by-use",
     kVmZone, IdleJoules<&Snapshot::vms, Level::kVm>, "joules", kVm},
    {"kepler_vm_cpu_joules_total", "Energy consumption of cpu at vm level in joules", kVmZone, Joules<&Snapshot::vms>,
     "joules", kVm, kUpstream},
    {"kepler_vm_cpu_watts", "Power consumption of cpu at vm level in watts", kVmZone, Watts<&Snapshot::vms>, "watts",
     kVm, kUpstream},
    {"kepler_vm_info",
     "Metadata of the virtual machine from OpenStack, as far as known, to join with its energy by vm_id; always 1",
     kVmInfo, VmInfo, "", kVm},
    {"kepler_vm_state_info",
     "State of the virtual machine: running or terminated; always 1; only with exporter.prometheus.exactTotals",
     kVmState, States<&Snapshot::vms>, "", kVm},
});
static_assert(IsValid(kEnergyFamilies));

}  // namespace

std::span<const Family> EnergyFamilies() { return kEnergyFamilies; }

}  // namespace kepler::series
