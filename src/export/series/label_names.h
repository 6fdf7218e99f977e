#pragma once
// Label names of each family, sorted by name as in the output.
#include <array>
#include <cstddef>
#include <string_view>

namespace kepler::series {

template <size_t kCount>
using Names = std::array<std::string_view, kCount>;

inline constexpr Names<0> kNone = {};
inline constexpr Names<1> kNodeName = {"node_name"};
inline constexpr Names<1> kCause = {"cause"};
inline constexpr Names<2> kExporter = {"exporter", "node_name"};
inline constexpr Names<3> kExporterReason = {"exporter", "node_name", "reason"};
inline constexpr Names<2> kNodeKind = {"kind", "node_name"};
inline constexpr Names<2> kLimit = {"limit", "node_name"};
inline constexpr Names<2> kNodeReason = {"node_name", "reason"};
inline constexpr Names<2> kNodeMethod = {"method", "node_name"};
inline constexpr Names<3> kKeptApart = {"interrupts", "node_name", "steal"};
inline constexpr Names<4> kZoneConfidence = {"confidence", "node_name", "path", "zone"};
inline constexpr Names<3> kModeSource = {"mode", "node_name", "source"};
inline constexpr Names<3> kMethodZone = {"method", "node_name", "zone"};
inline constexpr Names<4> kZoneMethod = {"method", "node_name", "ratio", "zone"};
inline constexpr Names<2> kNodeType = {"node_name", "type"};
inline constexpr Names<11> kZoneModel = {"features",  "machine", "mae_watts", "mape",    "match", "name",
                                         "node_name", "scope",   "source",    "trainer", "zone"};
inline constexpr Names<10> kSharedBy = {"features", "machine",   "mae_watts", "mape",    "match",
                                        "name",     "node_name", "source",    "trainer", "zone"};
inline constexpr Names<2> kModelZone = {"node_name", "zone"};
inline constexpr Names<3> kBasisZone = {"basis", "node_name", "zone"};
inline constexpr Names<2> kNodeSource = {"node_name", "source"};
inline constexpr Names<3> kSourceInterface = {"interface", "node_name", "source"};
inline constexpr Names<3> kSourceZone = {"node_name", "source", "zone"};
inline constexpr Names<3> kNodeZone = {"node_name", "path", "zone"};
inline constexpr Names<5> kNodeUnlisted = {"level", "node_name", "path", "reason", "zone"};
inline constexpr Names<4> kNodeUnnamed = {"level", "node_name", "path", "zone"};
inline constexpr Names<4> kNamespaceZone = {"namespace", "node_name", "path", "zone"};
inline constexpr Names<6> kOwnerZone = {"namespace", "node_name", "owner_kind", "owner_name", "path", "zone"};
inline constexpr Names<5> kUserZone = {"node_name", "path", "uid", "user", "zone"};
inline constexpr Names<3> kLevelZone = {"level", "node_name", "zone"};
inline constexpr Names<4> kZoneSource = {"node_name", "path", "source", "zone"};
inline constexpr Names<7> kPlatformSensor = {"bmc_id",    "chassis_id",  "node_name",  "source",
                                             "source_id", "source_name", "source_type"};
inline constexpr Names<5> kBuild = {"arch", "branch", "goversion", "revision", "version"};
inline constexpr Names<5> kCpu = {"core_id", "model_name", "physical_id", "processor", "vendor_id"};
inline constexpr Names<9> kProcessZone = {"comm",  "container_id", "exe",   "node_name", "pid",
                                          "state", "type",         "vm_id", "zone"};
inline constexpr Names<8> kProcessState = {"comm", "container_id", "exe", "node_name", "pid", "state", "type", "vm_id"};
inline constexpr Names<7> kProcessStateless = {"comm", "container_id", "exe", "node_name", "pid", "type", "vm_id"};
inline constexpr Names<7> kContainerZone = {"container_id", "container_name", "node_name", "pod_id",
                                            "runtime",      "state",          "zone"};
inline constexpr Names<6> kContainerState = {"container_id", "container_name", "node_name",
                                             "pod_id",       "runtime",        "state"};
inline constexpr Names<6> kVmZone = {"hypervisor", "node_name", "state", "vm_id", "vm_name", "zone"};
inline constexpr Names<9> kVmInfo = {"flavor",       "hypervisor", "instance_name", "node_name", "project_id",
                                     "project_name", "user_name",  "vm_id",         "vm_name"};
inline constexpr Names<5> kVmState = {"hypervisor", "node_name", "state", "vm_id", "vm_name"};
inline constexpr Names<5> kPodState = {"node_name", "pod_id", "pod_name", "pod_namespace", "state"};
inline constexpr Names<6> kPodZone = {"node_name", "pod_id", "pod_name", "pod_namespace", "state", "zone"};

// Of Kepler 0.7. The labels of workloads also have those of 0.11 that tell two series apart.
inline constexpr Names<5> kLegacyBuild = {"arch", "branch", "os", "revision", "version"};
inline constexpr Names<5> kLegacyNodeInfo = {"components_power_source", "cpu_architecture", "node_name",
                                             "platform_power_source", "source"};
inline constexpr Names<5> kLegacyNode = {"instance", "mode", "node_name", "package", "source"};
inline constexpr Names<9> kLegacyProcess = {"command", "container_id", "exe",  "mode", "node_name",
                                            "pid",     "source",       "type", "vm_id"};
inline constexpr Names<8> kLegacyProcessUse = {"command", "container_id", "exe",  "node_name",
                                               "pid",     "source",       "type", "vm_id"};
inline constexpr Names<9> kLegacyContainer = {"container_id", "container_name", "container_namespace",
                                              "mode",         "node_name",      "pod_id",
                                              "pod_name",     "runtime",        "source"};
inline constexpr Names<8> kLegacyContainerUse = {
    "container_id", "container_name", "container_namespace", "node_name", "pod_id", "pod_name", "runtime", "source"};
inline constexpr Names<6> kLegacyVm = {"hypervisor", "mode", "node_name", "source", "vm_id", "vm_name"};
inline constexpr Names<5> kLegacyVmUse = {"hypervisor", "node_name", "source", "vm_id", "vm_name"};

}  // namespace kepler::series
