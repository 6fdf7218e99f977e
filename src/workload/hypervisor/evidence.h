#pragma once
// Evidence for the claim of a process to be a virtual machine. Any user can start a program with the name and arguments
// of a hypervisor. If two processes claim one machine, the better evidence decides. Pure.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/owner.h"
#include "os/procfs.h"

namespace kepler::workload::hypervisor {

struct Evidence {
  bool in_scope = false;       // in a cgroup that the machine's own libvirt makes for virtual machines
  bool in_pod = false;         // in the container of a pod; counts like a scope with `holds_machine` (KubeVirt)
  bool holds_machine = false;  // one of its descriptors is a machine of KVM
  bool trusted_user = false;   // of root or a hypervisor's user

  /// Compares place, then descriptor, then user. The first difference decides.
  [[nodiscard]] std::weak_ordering operator<=>(const Evidence& other) const;
  bool operator==(const Evidence& other) const { return (*this <=> other) == 0; }
  /// The evidence for either of two processes.
  [[nodiscard]] Evidence operator|(const Evidence& other) const;
};

/// The best evidence, for logs: "scope", "pod", "kvm", "user" or "name".
[[nodiscard]] std::string_view ToString(const Evidence& evidence);

/// Whether one of the paths is below a scope for virtual machines at the top of the tree, where only root makes
/// cgroups:
/// "/machine.slice/machine-qemu…scope", "/machine/….libvirt-qemu" or "/qemu.slice/….scope" (Proxmox VE). A leading
/// "/.." leads out of a cgroup namespace.
[[nodiscard]] bool IsInMachineScope(const os::CgroupLines& lines);
/// Whether the cluster of this machine made the container.
[[nodiscard]] bool IsPodsContainer(const cgroup::Owner& owner);

/// Ids of the users "libvirt-qemu" and "qemu", as which libvirt runs hypervisors, from the text of /etc/passwd.
/// Malformed lines are left out.
[[nodiscard]] std::vector<uint32_t> HypervisorUsers(std::string_view passwd);

}  // namespace kepler::workload::hypervisor
