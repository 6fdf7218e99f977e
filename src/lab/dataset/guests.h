#pragma once
// Joins the features of guests with the energy that their hosts attribute to them. Guests cannot measure energy. Pure.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// Energy of virtual machines, as their host's agent attributes it: counters.
inline constexpr std::string_view kVmEnergy = "kepler_vm_cpu_joules_total";
inline constexpr std::string_view kVmIdleEnergy = "kepler_vm_cpu_idle_joules_total";

struct GuestVm {
  std::string node{};  // node_name of the guest's agent; empty: the node with the name of `vm`, or the only node
  std::string vm{};    // vm_name or vm_id at its host
};
/// Reads "NODE=VM" or "VM".
[[nodiscard]] GuestVm ParseGuestVm(std::string_view text);

struct Joined {
  std::vector<std::string> nodes{};  // of the guests
  std::vector<std::string> notes{};  // a line each
};

/// Replaces all energies in `guests` by those of the virtual machines in `host`, at the times at which the host's agent
/// took them: zone "package" is the active share of a virtual machine, "package_idle" its idle share. If `host` has no
/// metrics, `guests` has those of the hosts too. If `vms` is empty, guests and virtual machines with equal names belong
/// together, and so do the only guest and the only virtual machine. Errors: kInvalid with the names that are there, if
/// a guest or a virtual machine is missing or ambiguous.
[[nodiscard]] Result<Joined> JoinHost(Recording& guests, Recording host, std::span<const GuestVm> vms);

}  // namespace kepler::lab::dataset
