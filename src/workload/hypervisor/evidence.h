#pragma once
// Evidence for the claim that a process is a virtual machine. Any user can start a program with a hypervisor's name and
// arguments. If two processes claim one machine, the better evidence decides. Pure.
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/owner.h"
#include "os/procfs.h"

namespace kepler::workload::hypervisor {

struct Evidence {
  bool in_scope = false;       // in a cgroup that the host's libvirt creates for virtual machines
  bool in_pod = false;         // in a pod's container; with `holds_machine`, as good as in_scope (KubeVirt)
  bool holds_machine = false;  // has a descriptor of a KVM machine
  bool trusted_user = false;   // runs as root or as a hypervisor's user

  /// Compares place, then descriptor, then user. The first difference decides.
  [[nodiscard]] std::weak_ordering operator<=>(const Evidence& other) const;
  bool operator==(const Evidence& other) const { return (*this <=> other) == 0; }
  /// Returns the combined evidence of two processes.
  [[nodiscard]] Evidence operator|(const Evidence& other) const;
};

/// The best evidence, for logs: "scope", "pod", "kvm", "user" or "name".
[[nodiscard]] std::string_view ToString(const Evidence& evidence);

/// Returns true if a path is below a scope for virtual machines at the top of the tree, where only root creates
/// cgroups:
/// "/machine.slice/machine-qemu…scope", "/machine/….libvirt-qemu" or "/qemu.slice/….scope" (Proxmox VE). A leading
/// "/.." is a path outside the cgroup namespace.
[[nodiscard]] bool IsInMachineScope(const os::CgroupLines& lines);
/// Returns true if the cluster of this machine created the container.
[[nodiscard]] bool IsPodsContainer(const cgroup::Owner& owner);

/// Returns the user ids of "libvirt-qemu" and "qemu" from the text of /etc/passwd. libvirt runs hypervisors as these
/// users. Malformed lines are left out.
[[nodiscard]] std::vector<uint32_t> HypervisorUsers(std::string_view passwd);

}  // namespace kepler::workload::hypervisor
