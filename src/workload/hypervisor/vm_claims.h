#pragma once
// VmClaims: the virtual machines that run, and which processes may be one. A process claims a machine by its name and
// arguments, which any user can choose. A machine is (hypervisor, id) and has one owner at a time: while a process of
// the owner runs, processes of other owners are refused. Only better evidence takes a machine from its owner; the
// caller then makes the former processes plain ones (Leave). Pure; not thread-safe.
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "snapshot/identity.h"
#include "workload/hypervisor/evidence.h"

namespace kepler::workload::hypervisor {

/// Number of a machine that runs. It is used again after the last process left the machine.
using Machine = uint32_t;
inline constexpr Machine kNoMachine = UINT32_MAX;

/// Order of claims in one scan: better evidence first. With equal evidence, a claim that was not refused before comes
/// first, then the oldest process: when the agent starts, the owner was there before a process that copies its id.
struct ClaimRank {
  Evidence evidence;
  bool refused_before = false;
  ProcessKey process;

  [[nodiscard]] bool IsBefore(const ClaimRank& other) const;
};

class VmClaims {
 public:
  struct Holder {
    snapshot::VmIdentity vm;  // as the first process claimed it
    VmOwner owner;
    Evidence evidence;       // of all its processes, as far as known
    uint32_t processes = 0;  // that joined and did not leave
  };

  /// The running machine with these labels; kNoMachine if none runs.
  [[nodiscard]] Machine Find(const snapshot::VmIdentity& vm) const;
  /// False while a process of another owner is the machine.
  [[nodiscard]] bool MayClaim(const snapshot::VmIdentity& vm, const VmOwner& owner) const;
  /// The machine that the process is from now on; kNoMachine, without a change, if another owner has it. `member`: the
  /// machine that the process is now. A process stays in its machine if its owner changes (setuid, another cgroup); if
  /// it is the only process, the machine gets the new owner. Join() must follow.
  [[nodiscard]] Machine Claim(const snapshot::VmIdentity& vm, const VmOwner& owner, const Evidence& evidence,
                              Machine member);
  /// A process is the machine, or no longer. kNoMachine is allowed. To move a process, join first.
  void Join(Machine machine);
  void Leave(Machine machine);

  /// Valid until the next Claim() or Leave().
  [[nodiscard]] const Holder& holder(Machine machine) const { return holders_[machine]; }
  /// A process of the machine was found to hold a KVM machine.
  void AddKvmEvidence(Machine machine) { holders_[machine].evidence.holds_machine = true; }
  [[nodiscard]] size_t running() const { return by_id_.size(); }

 private:
  using Key = std::pair<std::string, std::string>;  // hypervisor and id
  static Key KeyOf(const snapshot::VmIdentity& vm) { return {vm.hypervisor, vm.id}; }

  std::vector<Holder> holders_;  // by number
  std::vector<Machine> free_;
  std::map<Key, Machine> by_id_;
};

}  // namespace kepler::workload::hypervisor
