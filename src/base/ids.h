#pragma once
// Identities of workloads. An identity is never a bare pid and never a path.
#include <compare>
#include <cstdint>
#include <string>

namespace kepler {

/// Marks an unknown user: not the id of any user (chown(2)).
inline constexpr uint32_t kUnknownUid = UINT32_MAX;

/// A process: thread group id in the pid namespace of host.procfs, and start time (field 22 of /proc/PID/stat, in clock
/// ticks since boot). Two processes may share a pid, but never both fields.
struct ProcessKey {
  int32_t tgid = 0;
  uint64_t start_ticks = 0;
  constexpr auto operator<=>(const ProcessKey&) const = default;
};

/// A container: the label value of its runtime ("docker", "containerd", …) and the id from the runtime.
struct ContainerId {
  std::string runtime;
  std::string id;
  auto operator<=>(const ContainerId&) const = default;
};

/// A virtual machine: the label value of its hypervisor ("kvm", …) and its id.
struct VmId {
  std::string hypervisor;
  std::string id;
  auto operator<=>(const VmId&) const = default;
};

/// The owner of a virtual machine. Any user can start a program with another machine's id. Without the necessary
/// privileges, no user can take another user id or another place in the cgroup tree.
struct VmOwner {
  uint32_t uid = kUnknownUid;  // real user id in the reader's user namespace
  std::string cgroup;          // paths in every hierarchy
  bool operator==(const VmOwner&) const = default;
};

}  // namespace kepler
