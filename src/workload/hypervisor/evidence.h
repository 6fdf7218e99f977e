#pragma once
// Evidence: what speaks for a process that says it is a virtual machine. Anybody can name a program and its arguments
// as a hypervisor's; where two claim one machine the better evidence decides. Pure.
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
  bool in_pod = false;         // in a pod's container: with `holds_machine` the same as a scope, as KubeVirt's are
  bool holds_machine = false;  // one of its descriptors is a machine of KVM
  bool trusted_user = false;   // of root or a hypervisor's user

  /// By place, then descriptor, then user: the first that differs decides.
  [[nodiscard]] std::weak_ordering operator<=>(const Evidence& other) const;
  bool operator==(const Evidence& other) const { return (*this <=> other) == 0; }
  /// All that speaks for one of the two.
  [[nodiscard]] Evidence operator|(const Evidence& other) const;
};

/// The best of it, as logs say it: "scope", "pod", "kvm", "user" or "name".
[[nodiscard]] std::string_view ToString(const Evidence& evidence);

/// Whether one of the paths is that of a scope for virtual machines right below the top of the tree, where only root
/// makes cgroups: "/machine.slice/machine-qemu…scope", "/machine/….libvirt-qemu" or "/qemu.slice/….scope" (Proxmox VE).
/// "/.." at the beginning is the way up from a cgroup namespace.
[[nodiscard]] bool IsInMachineScope(const os::CgroupLines& lines);
/// Whether the machine's own cluster made the container.
[[nodiscard]] bool IsPodsContainer(const cgroup::Owner& owner);

/// Users as which libvirt runs hypervisors ("libvirt-qemu", "qemu"), by an /etc/passwd: their ids. Lines that are none
/// of a user are left out.
[[nodiscard]] std::vector<uint32_t> HypervisorUsers(std::string_view passwd);

}  // namespace kepler::workload::hypervisor
