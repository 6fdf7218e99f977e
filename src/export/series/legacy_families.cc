#include <string_view>

#include "export/series/family_table.h"
#include "export/series/label_names.h"
#include "export/series/legacy_rows.h"

namespace kepler::series {
namespace {

using snapshot::Level;
using snapshot::Snapshot;
using status::Domain;

template <Part kPart>
void NodeJoulesByMode(const Context& c, Visitor& out) {
  const PartZones zones(c.zones, kPart);
  if (zones.count == 0) return;
  const size_t z = zones.indexes[0];
  const status::Zone& zone = c.snapshot.zones[z];
  const snapshot::NodeZone& node = c.snapshot.node[z];
  const std::string_view source = LegacySource(c, zone);
  out.Add({c.selection.node_name, "dynamic", zone.path, source}, Of(node.active), node.begin);
  out.Add({c.selection.node_name, "idle", zone.path, source}, Of(node.idle), node.begin);
}

std::string_view SourceOfDomain(const Context& c, Domain domain) {
  for (const status::Zone& zone : c.snapshot.zones)
    if (zone.domain == domain) return LegacySource(c, zone);
  return "none";
}

void NodeInfo(const Context& c, Visitor& out) {
  const auto& cpus = c.snapshot.cpus;
  const std::string_view model = cpus && !cpus->empty() ? std::string_view(cpus->front().model_name) : "unknown";
  out.Add({SourceOfDomain(c, Domain::kCpu), model, SourceOfDomain(c, Domain::kPlatform), "os"}, Of(uint64_t{1}));
}

void ExporterBuildInfo(const Context& c, Visitor& out) {
  const BuildInfo& build = c.selection.build;
  out.Add({build.arch, build.branch, "linux", build.revision, build.version}, Of(uint64_t{1}));
}

constexpr auto kLegacyFamilies = std::to_array<Family>({
    {"kepler_container_bpf_cpu_time_ms_total", "CPU time at container level in milliseconds", kLegacyContainerUse,
     LegacyMilliseconds<&Snapshot::containers>, "", kContainer, kLegacy},
    {"kepler_container_cache_miss_total", "Last-level cache misses at container level; only if activity.counters is on",
     kLegacyContainerUse, LegacyEvents<&Snapshot::containers, &HardwareEvents::cache_misses>, "", kContainer, kLegacy},
    {"kepler_container_core_joules_total",
     "Energy of the CPU cores at container level in joules, by mode: dynamic (active), idle (share of idle energy, "
     "only with attribution.idle)",
     kLegacyContainer, LegacyJoules<&Snapshot::containers, Level::kContainer, Part::kCore>, "joules", kContainer,
     kLegacy},
    {"kepler_container_cpu_cycles_total", "CPU cycles at container level; only if activity.counters is on",
     kLegacyContainerUse, LegacyEvents<&Snapshot::containers, &HardwareEvents::cycles>, "", kContainer, kLegacy},
    {"kepler_container_cpu_instructions_total", "CPU instructions at container level; only if activity.counters is on",
     kLegacyContainerUse, LegacyEvents<&Snapshot::containers, &HardwareEvents::instructions>, "", kContainer, kLegacy},
    {"kepler_container_dram_joules_total",
     "Energy of the memory at container level in joules, by mode: dynamic (active), idle (share of idle energy, only "
     "with attribution.idle)",
     kLegacyContainer, LegacyJoules<&Snapshot::containers, Level::kContainer, Part::kDram>, "joules", kContainer,
     kLegacy},
    {"kepler_container_joules_total",
     "Energy of the CPU packages and memory at container level in joules, by mode: dynamic (active), idle (share of "
     "idle energy, only with attribution.idle)",
     kLegacyContainer, LegacyJoules<&Snapshot::containers, Level::kContainer, Part::kPackageAndDram>, "joules",
     kContainer, kLegacy},
    {"kepler_container_package_joules_total",
     "Energy of the CPU packages at container level in joules, by mode: dynamic (active), idle (share of idle energy, "
     "only with attribution.idle)",
     kLegacyContainer, LegacyJoules<&Snapshot::containers, Level::kContainer, Part::kPackage>, "joules", kContainer,
     kLegacy},
    {"kepler_container_uncore_joules_total",
     "Energy of the uncore parts of the CPUs at container level in joules, by mode: dynamic (active), idle (share of "
     "idle energy, only with attribution.idle)",
     kLegacyContainer, LegacyJoules<&Snapshot::containers, Level::kContainer, Part::kUncore>, "joules", kContainer,
     kLegacy},
    {"kepler_exporter_build_info", "Version of the agent; always 1", kLegacyBuild, ExporterBuildInfo, "", kAlways,
     kLegacy},
    {"kepler_node_core_joules_total",
     "Energy of the CPU cores at node level in joules, by mode: dynamic (active), idle", kLegacyNode,
     NodeJoulesByMode<Part::kCore>, "joules", kNode, kLegacy},
    {"kepler_node_dram_joules_total", "Energy of the memory at node level in joules, by mode: dynamic (active), idle",
     kLegacyNode, NodeJoulesByMode<Part::kDram>, "joules", kNode, kLegacy},
    {"kepler_node_info", "Model of the CPUs and source of the energy of the CPUs and of the platform; always 1",
     kLegacyNodeInfo, NodeInfo, "", kNode, kLegacy},
    {"kepler_node_package_joules_total",
     "Energy of the CPU packages at node level in joules, by mode: dynamic (active), idle", kLegacyNode,
     NodeJoulesByMode<Part::kPackage>, "joules", kNode, kLegacy},
    {"kepler_node_uncore_joules_total",
     "Energy of the uncore parts of the CPUs at node level in joules, by mode: dynamic (active), idle", kLegacyNode,
     NodeJoulesByMode<Part::kUncore>, "joules", kNode, kLegacy},
    {"kepler_process_bpf_cpu_time_ms_total", "CPU time at process level in milliseconds", kLegacyProcessUse,
     LegacyMilliseconds<&Snapshot::processes>, "", kProcess, kLegacy},
    {"kepler_process_cache_miss_total", "Last-level cache misses at process level; only if activity.counters is on",
     kLegacyProcessUse, LegacyEvents<&Snapshot::processes, &HardwareEvents::cache_misses>, "", kProcess, kLegacy},
    {"kepler_process_core_joules_total",
     "Energy of the CPU cores at process level in joules, by mode: dynamic (active), idle (share of idle energy, only "
     "with attribution.idle: by-use)",
     kLegacyProcess, LegacyJoules<&Snapshot::processes, Level::kProcess, Part::kCore>, "joules", kProcess, kLegacy},
    {"kepler_process_cpu_cycles_total", "CPU cycles at process level; only if activity.counters is on",
     kLegacyProcessUse, LegacyEvents<&Snapshot::processes, &HardwareEvents::cycles>, "", kProcess, kLegacy},
    {"kepler_process_cpu_instructions_total", "CPU instructions at process level; only if activity.counters is on",
     kLegacyProcessUse, LegacyEvents<&Snapshot::processes, &HardwareEvents::instructions>, "", kProcess, kLegacy},
    {"kepler_process_dram_joules_total",
     "Energy of the memory at process level in joules, by mode: dynamic (active), idle (share of idle energy, only "
     "with attribution.idle: by-use)",
     kLegacyProcess, LegacyJoules<&Snapshot::processes, Level::kProcess, Part::kDram>, "joules", kProcess, kLegacy},
    {"kepler_process_joules_total",
     "Energy of the CPU packages and memory at process level in joules, by mode: dynamic (active), idle (share of idle "
     "energy, only with attribution.idle: by-use)",
     kLegacyProcess, LegacyJoules<&Snapshot::processes, Level::kProcess, Part::kPackageAndDram>, "joules", kProcess,
     kLegacy},
    {"kepler_process_package_joules_total",
     "Energy of the CPU packages at process level in joules, by mode: dynamic (active), idle (share of idle energy, "
     "only with attribution.idle: by-use)",
     kLegacyProcess, LegacyJoules<&Snapshot::processes, Level::kProcess, Part::kPackage>, "joules", kProcess, kLegacy},
    {"kepler_process_uncore_joules_total",
     "Energy of the uncore parts of the CPUs at process level in joules, by mode: dynamic (active), idle (share of "
     "idle energy, only with attribution.idle: by-use)",
     kLegacyProcess, LegacyJoules<&Snapshot::processes, Level::kProcess, Part::kUncore>, "joules", kProcess, kLegacy},
    {"kepler_vm_bpf_cpu_time_ms_total", "CPU time at vm level in milliseconds", kLegacyVmUse,
     LegacyMilliseconds<&Snapshot::vms>, "", kVm, kLegacy},
    {"kepler_vm_cache_miss_total", "Last-level cache misses at vm level; only if activity.counters is on", kLegacyVmUse,
     LegacyEvents<&Snapshot::vms, &HardwareEvents::cache_misses>, "", kVm, kLegacy},
    {"kepler_vm_core_joules_total",
     "Energy of the CPU cores at vm level in joules, by mode: dynamic (active), idle (share of idle energy, only with "
     "attribution.idle: by-use)",
     kLegacyVm, LegacyJoules<&Snapshot::vms, Level::kVm, Part::kCore>, "joules", kVm, kLegacy},
    {"kepler_vm_cpu_cycles_total", "CPU cycles at vm level; only if activity.counters is on", kLegacyVmUse,
     LegacyEvents<&Snapshot::vms, &HardwareEvents::cycles>, "", kVm, kLegacy},
    {"kepler_vm_cpu_instructions_total", "CPU instructions at vm level; only if activity.counters is on", kLegacyVmUse,
     LegacyEvents<&Snapshot::vms, &HardwareEvents::instructions>, "", kVm, kLegacy},
    {"kepler_vm_dram_joules_total",
     "Energy of the memory at vm level in joules, by mode: dynamic (active), idle (share of idle energy, only with "
     "attribution.idle: by-use)",
     kLegacyVm, LegacyJoules<&Snapshot::vms, Level::kVm, Part::kDram>, "joules", kVm, kLegacy},
    {"kepler_vm_package_joules_total",
     "Energy of the CPU packages at vm level in joules, by mode: dynamic (active), idle (share of idle energy, only "
     "with attribution.idle: by-use)",
     kLegacyVm, LegacyJoules<&Snapshot::vms, Level::kVm, Part::kPackage>, "joules", kVm, kLegacy},
    {"kepler_vm_uncore_joules_total",
     "Energy of the uncore parts of the CPUs at vm level in joules, by mode: dynamic (active), idle (share of idle "
     "energy, only with attribution.idle: by-use)",
     kLegacyVm, LegacyJoules<&Snapshot::vms, Level::kVm, Part::kUncore>, "joules", kVm, kLegacy},
});
static_assert(IsValid(kLegacyFamilies));

}  // namespace

std::span<const Family> LegacyFamilies() { return kLegacyFamilies; }

}  // namespace kepler::series
