#pragma once
// Identities. Never a bare pid and never a path.
#include <compare>
#include <cstdint>
#include <string>

namespace kepler {

/// A process: thread group id in the namespace of host.procfs, and when it started (field 22 of /proc/PID/stat, in
/// clock ticks since boot). Two processes may share a pid, never both fields.
struct ProcessKey {
  int32_t tgid = 0;
  uint64_t start_ticks = 0;
  constexpr auto operator<=>(const ProcessKey&) const = default;
};

/// A container: its runtime's label value ("docker", "containerd", …) and the id that the runtime gave.
struct ContainerId {
  std::string runtime;
  std::string id;
  auto operator<=>(const ContainerId&) const = default;
};

/// A virtual machine: the hypervisor's label value ("kvm", …) and the id.
struct VmId {
  std::string hypervisor;
  std::string id;
  auto operator<=>(const VmId&) const = default;
};

/// Who runs a virtual machine. Anybody can start a program with somebody else's id; nobody can take a user's id or a
/// place in the cgroup tree without the right to.
struct VmOwner {
  static constexpr uint32_t kUnknownUid = UINT32_MAX;  // no user has it
  uint32_t uid = kUnknownUid;                          // the real one, as the reader's user namespace numbers it
  std::string cgroup;                                  // its paths in every hierarchy
  bool operator==(const VmOwner&) const = default;
};

}  // namespace kepler
