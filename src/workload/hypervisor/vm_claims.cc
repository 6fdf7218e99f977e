#include "workload/hypervisor/vm_claims.h"

#include <tuple>

#include "base/check.h"

namespace kepler::workload::hypervisor {

bool ClaimRank::IsBefore(const ClaimRank& other) const {
  if (evidence != other.evidence) return evidence > other.evidence;
  const auto age = [](const ClaimRank& rank) {
    return std::tuple(rank.refused_before, rank.process.start_ticks, rank.process.tgid);
  };
  return age(*this) < age(other);
}

Machine VmClaims::Find(const snapshot::VmIdentity& vm) const {
  const auto it = by_id_.find(KeyOf(vm));
  return it == by_id_.end() ? kNoMachine : it->second;
}

bool VmClaims::MayClaim(const snapshot::VmIdentity& vm, const VmOwner& owner) const {
  const Machine machine = Find(vm);
  return machine == kNoMachine || holders_[machine].owner == owner;
}

Machine VmClaims::Claim(const snapshot::VmIdentity& vm, const VmOwner& owner, const Evidence& evidence,
                        Machine member) {
  if (const Machine known = Find(vm); known != kNoMachine) {
    Holder& holder = holders_[known];
    if (holder.owner != owner && known != member) return kNoMachine;
    if (known == member && holder.processes == 1) holder.owner = owner;
    holder.evidence = holder.evidence | evidence;
    return known;
  }
  if (free_.empty()) {
    free_.push_back(static_cast<Machine>(holders_.size()));
    holders_.emplace_back();
  }
  const Machine machine = free_.back();
  free_.pop_back();
  holders_[machine] = {vm, owner, evidence, 0};
  by_id_.emplace(KeyOf(vm), machine);
  return machine;
}

void VmClaims::Join(Machine machine) {
  if (machine != kNoMachine) ++holders_[machine].processes;
}

void VmClaims::Leave(Machine machine) {
  if (machine == kNoMachine) return;
  Holder& holder = holders_[machine];
  Check(holder.processes > 0, "a process that leaves a machine must be in it");
  if (--holder.processes > 0) return;
  by_id_.erase(KeyOf(holder.vm));
  holder = {};
  free_.push_back(machine);
}

}  // namespace kepler::workload::hypervisor
