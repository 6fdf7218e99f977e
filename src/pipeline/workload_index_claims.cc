// The claims of processes to be virtual machines: who gets one, who loses one, and who is refused.
#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "pipeline/workload_index.h"

namespace kepler::pipeline {
namespace {

using workload::Holds;
using workload::hypervisor::kNoMachine;
using workload::hypervisor::Machine;
using workload::hypervisor::VmClaims;

}  // namespace

/// A process can change its name at each scan, so older refusals of it are dropped.
void WorkloadIndex::SettleClaims(Processes processes) {
  std::erase_if(refused_, [&](const Refused& refused) { return IsOver(refused); });
  std::ranges::sort(claims_, [](const Claim& a, const Claim& b) { return a.rank.IsBefore(b.rank); });
  for (const Claim& claim : claims_) Settle(claim, processes);
  claims_.clear();
}

void WorkloadIndex::Settle(const Claim& claim, Processes processes) {
  SlotState& state = slots_[claim.process->slot];
  const snapshot::VmIdentity& labels = *claim.owner.vm;
  const Machine held = vm_claims_.Find(labels);
  const bool is_others = held != state.machine && !vm_claims_.MayClaim(labels, claim.owner.vm_owner);
  if (is_others && HasBetterEvidence(claim, held, processes)) Oust(held, claim, processes);
  const bool goes_on = vm_claims_.Find(labels) != kNoMachine;
  const Machine machine = vm_claims_.Claim(labels, claim.owner.vm_owner, claim.owner.evidence, state.machine);
  if (machine != kNoMachine) {
    if (machine >= vm_rows_.size()) vm_rows_.resize(machine + 1);
    vm_rows_[machine] = ledger_.Vm(labels, vm_claims_.holder(machine).owner, goes_on);
  }
  SetIdentity(*claim.process->info, claim.owner, machine, state);
  state.refused = machine == kNoMachine;
  if (state.refused) refused_.push_back({claim.process->slot, state.identified, labels, claim.owner});
}

/// Returns true if the process of the claim has better evidence than the process that has the VM. A process with the
/// name of a hypervisor gets a VM before its descriptors are read, so this reads those of the process that has it.
bool WorkloadIndex::HasBetterEvidence(const Claim& claim, Machine machine, Processes processes) {
  const workload::hypervisor::Evidence& known = vm_claims_.holder(machine).evidence;
  for (const activity::ProcessSample& process : processes) {
    if (claim.owner.evidence <= known) return false;
    if (known.holds_machine) break;
    if (slots_[process.slot].machine != machine) continue;
    const auto holds = resolver_.HoldsMachine(*process.info);
    if (holds == Holds::kYes) vm_claims_.AddKvmEvidence(machine);
    if (holds != Holds::kNotNow) continue;
    RetryLater(workload::Delayed::kPutOff, slots_[claim.process->slot]);
    return false;
  }
  return claim.owner.evidence > known;
}

void WorkloadIndex::Oust(Machine machine, const Claim& by, Processes processes) {
  const auto pid = [](const activity::ProcessSample& process) { return std::to_string(process.info->key.tgid); };
  const VmClaims::Holder former = vm_claims_.holder(machine);
  const auto text = [](const workload::hypervisor::Evidence& evidence) { return std::string(ToString(evidence)); };
  for (const activity::ProcessSample& process : processes) {
    SlotState& state = slots_[process.slot];
    if (state.machine != machine) continue;
    const workload::ProcessOwner owner = resolver_.Resolve(*process.info, state.search.holds());
    SetIdentity(*process.info, owner, kNoMachine, state);
    state.identified = ++identifications_;
    state.refused = state.reported = true;
    if (owner.vm) refused_.push_back({process.slot, state.identified, *owner.vm, owner});
    if (owner.late != workload::Delayed::kNo) RetryLater(owner.late, state);
    conflicts_.CountVm();
    limiter_.Say(log::Level::kWarn, "takeover " + std::to_string(former.owner.uid), now_,
                 "a process with better evidence takes over a virtual machine; the former process is now a plain "
                 "process",
                 {{"vm_id", former.vm.id},
                  {"hypervisor", former.vm.hypervisor},
                  {"pid", pid(*by.process)},
                  {"uid", std::to_string(by.owner.vm_owner.uid)},
                  {"evidence", text(by.owner.evidence)},
                  {"former_pid", pid(process)},
                  {"former_uid", std::to_string(former.owner.uid)},
                  {"former_evidence", text(former.evidence)}});
  }
}

/// Those whose VM nobody else is any more are identified anew. One that is refused twice is reported, once in its life:
/// that a VM's next process is seen while the last one's end is not known yet is normal.
void WorkloadIndex::AskAgain() {
  std::erase_if(refused_, [&](const Refused& refused) {
    if (IsOver(refused)) return true;
    SlotState& state = slots_[refused.slot];
    if (vm_claims_.MayClaim(refused.vm, refused.owner.vm_owner)) {
      state.version = 0;
      return true;
    }
    if (!std::exchange(state.reported, true)) {
      conflicts_.CountVm();
      LogRefusal(refused);
    }
    return false;
  });
}

void WorkloadIndex::LogRefusal(const Refused& refused) {
  const auto verdict = limiter_.Ask("refused " + std::to_string(refused.owner.vm_owner.uid), now_);
  if (!verdict.pass) return;
  const Machine machine = vm_claims_.Find(refused.vm);
  const VmClaims::Holder& owner = vm_claims_.holder(machine);
  const auto holder = std::ranges::find(slots_, machine, &SlotState::machine);
  const auto pid = [&](const SlotState& state) { return std::to_string(state.identity->pid); };
  log::Warn(
      "a process claims the id of another owner's virtual machine without better evidence; it is counted as a plain "
      "process until that machine ends",
      {{"vm_id", refused.vm.id},
       {"hypervisor", refused.vm.hypervisor},
       {"pid", pid(slots_[refused.slot])},
       {"uid", std::to_string(refused.owner.vm_owner.uid)},
       {"owner_pid", holder != slots_.end() ? pid(*holder) : ""},
       {"owner_uid", std::to_string(owner.owner.uid)},
       {"evidence", std::string(ToString(refused.owner.evidence))},
       {"owner_evidence", std::string(ToString(owner.evidence))},
       {"suppressed", std::to_string(verdict.suppressed)}});
}

}  // namespace kepler::pipeline
