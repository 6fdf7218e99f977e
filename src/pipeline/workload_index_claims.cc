// The claims of processes to be virtual machines: who gets one, who loses one, and who is refused.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "pipeline/workload_index.h"

namespace kepler::pipeline {
namespace {

using attribution::kNoRow;
using attribution::Row;
using workload::Holds;

}  // namespace

/// Claims with better evidence come first. With equal evidence the oldest process comes first: when the agent starts,
/// the owner was there before a process that copies its id. Claims that were refused before come last. A process can
/// change its name at each scan, so older refusals of it are dropped.
void WorkloadIndex::SettleClaims(Processes processes) {
  std::erase_if(refused_, [&](const Refused& refused) { return IsOver(refused); });
  std::ranges::sort(claims_, [](const Claim& a, const Claim& b) {
    if (a.owner.evidence != b.owner.evidence) return a.owner.evidence > b.owner.evidence;
    const auto age = [](const Claim& claim) {
      return std::tuple(claim.refused_before, claim.process->info->key.start_ticks, claim.process->info->key.tgid);
    };
    return age(a) < age(b);
  });
  for (const Claim& claim : claims_) Settle(claim, processes);
  claims_.clear();
}

void WorkloadIndex::Settle(const Claim& claim, Processes processes) {
  SlotState& state = slots_[claim.process->slot];
  const snapshot::VmIdentity& labels = *claim.owner.vm;
  const Row member = state.row != kNoRow ? ledger_.processes().groups(state.row).vm : kNoRow;
  const Row held = ledger_.vms().Find(labels);
  const bool is_others = held != member && !ledger_.vms().MayClaim(labels, claim.owner.vm_owner);
  if (is_others && HasBetterEvidence(claim, held, processes)) Oust(held, claim, processes);
  const bool goes_on = held != kNoRow && ledger_.vms().processes(held) > 0;
  const Row vm = ledger_.Vm(labels, claim.owner.vm_owner, member);
  SetIdentity(*claim.process->info, claim.owner, vm, state);
  state.refused = vm == kNoRow;
  if (state.refused) return refused_.push_back({claim.process->slot, state.identified, labels, claim.owner});
  if (vm >= evidence_.size()) evidence_.resize(vm + 1);
  evidence_[vm] = goes_on ? evidence_[vm] | claim.owner.evidence : claim.owner.evidence;
}

/// Named hypervisors are VMs without a look at their descriptors. So the holder's are read before it loses the VM.
bool WorkloadIndex::HasBetterEvidence(const Claim& claim, Row vm, Processes processes) {
  workload::hypervisor::Evidence& known = evidence_[vm];
  for (const activity::ProcessSample& process : processes) {
    if (claim.owner.evidence <= known) return false;
    if (known.holds_machine) break;
    if (!IsOf(slots_[process.slot], vm)) continue;
    const auto holds = resolver_.HoldsMachine(*process.info);
    known.holds_machine = holds == Holds::kYes;
    if (holds != Holds::kNotNow) continue;
    RetryLater(workload::Delayed::kPutOff, slots_[claim.process->slot]);
    return false;
  }
  return claim.owner.evidence > known;
}

void WorkloadIndex::Oust(Row vm, const Claim& by, Processes processes) {
  const auto pid = [](const activity::ProcessSample& process) { return std::to_string(process.info->key.tgid); };
  const snapshot::VmIdentity labels = ledger_.vms().identity(vm);
  const auto text = [](const workload::hypervisor::Evidence& evidence) { return std::string(ToString(evidence)); };
  for (const activity::ProcessSample& process : processes) {
    SlotState& state = slots_[process.slot];
    if (!IsOf(state, vm)) continue;
    const workload::ProcessOwner owner = resolver_.Resolve(*process.info, state.holds_machine);
    SetIdentity(*process.info, owner, kNoRow, state);
    state.identified = ++identifications_;
    state.refused = state.reported = true;
    if (owner.vm) refused_.push_back({process.slot, state.identified, *owner.vm, owner});
    if (owner.late != workload::Delayed::kNo) RetryLater(owner.late, state);
    conflicts_.CountVm();
    limiter_.Say(log::Level::kWarn, "takeover " + std::to_string(ledger_.vms().owner(vm).uid), now_,
                 "a process with better evidence takes over a virtual machine; the former process is now a plain "
                 "process",
                 {{"vm_id", labels.id},
                  {"hypervisor", labels.hypervisor},
                  {"pid", pid(*by.process)},
                  {"uid", std::to_string(by.owner.vm_owner.uid)},
                  {"evidence", text(by.owner.evidence)},
                  {"former_pid", pid(process)},
                  {"former_uid", std::to_string(ledger_.vms().owner(vm).uid)},
                  {"former_evidence", text(evidence_[vm])}});
  }
}

/// Those whose VM nobody else is any more are identified anew. One that is refused twice is reported, once in its life:
/// that a VM's next process is seen while the last one's end is not known yet is normal.
void WorkloadIndex::AskAgain() {
  std::erase_if(refused_, [&](const Refused& refused) {
    if (IsOver(refused)) return true;
    SlotState& state = slots_[refused.slot];
    if (ledger_.vms().MayClaim(refused.vm, refused.owner.vm_owner)) {
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
  const Row vm = ledger_.vms().Find(refused.vm);
  const auto holder = std::ranges::find_if(slots_, [&](const SlotState& state) { return IsOf(state, vm); });
  const auto pid = [&](Row row) { return std::to_string(ledger_.processes().identity(row).pid); };
  log::Warn(
      "a process claims the id of another owner's virtual machine without better evidence; it is counted as a plain "
      "process until that machine ends",
      {{"vm_id", refused.vm.id},
       {"hypervisor", refused.vm.hypervisor},
       {"pid", pid(slots_[refused.slot].row)},
       {"uid", std::to_string(refused.owner.vm_owner.uid)},
       {"owner_pid", holder != slots_.end() ? pid(holder->row) : ""},
       {"owner_uid", std::to_string(ledger_.vms().owner(vm).uid)},
       {"evidence", std::string(ToString(refused.owner.evidence))},
       {"owner_evidence", std::string(ToString(evidence_[vm]))},
       {"suppressed", std::to_string(verdict.suppressed)}});
}

}  // namespace kepler::pipeline
