#include "pipeline/workload_index.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "cgroup/owner.h"
#include "workload/identity_of.h"

namespace kepler::pipeline {
namespace {

using attribution::Groups;
using attribution::kNoRow;
using attribution::Ledger;
using attribution::Row;
using workload::Holds;

bool HasSameNames(const snapshot::PodIdentity& a, const snapshot::PodIdentity& b) {
  const bool same_labels = a.labels == b.labels || (a.labels && b.labels && *a.labels == *b.labels);
  return same_labels && a.name == b.name && a.name_space == b.name_space;
}

}  // namespace

void WorkloadIndex::Apply(const activity::ActivitySample& sample, std::span<const cgroup::CgroupPtr> cgroups) {
  ++tick_;
  now_ = sample.taken_at;
  resolver_.BeginScan();
  LearnPods();
  ReleasePending();
  for (const activity::ExitedSample& exited : sample.exited) {
    SlotState& state = slots_[exited.slot];
    if (exited.info != nullptr && exited.version != state.version) IdentifyExited(*exited.info, exited.version, state);
    if (exited.cpu.count() > 0) ledger_.UseProcess(state.row, exited.cpu, exited.events);
    ledger_.EndProcess(state.row);
    state = {};
  }
  // Before the living: whoever has the pid of a short-lived process now got it after it.
  ApplyShortLived(sample.short_lived);
  if (sample.renumbered) Renumber(sample.moved);
  AskAgain();
  IdentifyAll(sample.processes);
  SettleClaims(sample.processes);
  for (const activity::ProcessSample& process : sample.processes)
    ledger_.UseProcess(slots_[process.slot].row, process.cpu, process.events);
  for (const activity::ResidualSample& residual : sample.residuals)
    ledger_.UseResidual(GroupsOf(residual.cgroup->owner, ""), residual.cpu);
  ledger_.UseUnattributed(sample.invisible + sample.lost);
  for (const cgroup::CgroupPtr& cgroup : cgroups) KeepAlive(cgroup->owner);
  conflicts_.EndTick();
}

void WorkloadIndex::Renumber(std::span<const activity::MovedProcess> moved) {
  std::vector<SlotState> before = std::exchange(slots_, {});
  for (const activity::MovedProcess& process : moved) {
    if (process.to >= slots_.size()) slots_.resize(process.to + 1);
    SlotState& from = before[process.from];
    slots_[process.to] = {.row = std::exchange(from.row, kNoRow),
                          .holds_machine = from.holds_machine,
                          .refused = from.refused,
                          .reported = from.reported};
  }
  for (const SlotState& gone : before)
    if (gone.row != kNoRow) ledger_.EndProcess(gone.row);
  refused_.clear();  // everybody is identified anew
}

/// There may be a hundred thousand in a tick: what they cost is a look-up each.
void WorkloadIndex::ApplyShortLived(std::span<const activity::ShortLivedSample> short_lived) {
  short_lived_groups_.clear();
  for (size_t i = 0; i < short_lived.size(); ++i) {
    const activity::ShortLivedSample& process = short_lived[i];
    const auto [groups, fresh] = short_lived_groups_.try_emplace(process.cgroups);
    if (fresh) groups->second = GroupsOf(process.cgroups->owner, "");
    ledger_.UseShortLived({.number = i,
                           .groups = groups->second,
                           .cpu = process.cpu,
                           .events = process.events,
                           .late_remainder = process.late_remainder});
  }
}

void WorkloadIndex::IdentifyAll(Processes processes) {
  const auto pid = [](const activity::ProcessSample& process) { return process.info->key.tgid; };
  const auto from = std::ranges::lower_bound(processes, std::exchange(look_from_, 0), {}, pid);
  const auto first = static_cast<size_t>(from - processes.begin());
  for (size_t i = 0; i < processes.size(); ++i) {
    const activity::ProcessSample& process = processes[(first + i) % processes.size()];
    if (process.slot >= slots_.size()) slots_.resize(process.slot + 1);
    SlotState& state = slots_[process.slot];
    const bool put_off = !FindMachine(process, state);
    const bool retry = state.retry_tick != 0 && state.retry_tick <= tick_;
    if (state.version != process.version || retry || state.machine_due) Identify(process, state);
    // The first has had its turn, even if it cannot be looked at.
    if (put_off && i > 0 && look_from_ == 0) look_from_ = pid(process);
  }
}

bool WorkloadIndex::FindMachine(const activity::ProcessSample& process, SlotState& state) {
  // Another program makes its machine as late as any.
  if (state.version != process.version && state.row != kNoRow && !RunsSame(*process.info, state)) RestartLooks(state);
  state.used += process.cpu;
  if (state.holds_machine || state.used < kFirstLook * (int64_t{1} << state.looks)) return true;
  if (state.row != kNoRow && ledger_.processes().groups(state.row).vm != kNoRow) return true;
  const auto holds = resolver_.HoldsMachine(*process.info);
  if (holds == Holds::kNotNow) return false;
  while (state.used >= kFirstLook * (int64_t{1} << state.looks)) ++state.looks;
  state.holds_machine = state.machine_due = holds == Holds::kYes;
  return true;
}

/// A descriptor of a machine does not outlive exec, whose program may hold another one.
void WorkloadIndex::AskForMachine(const activity::ProcessSample& process, SlotState& state) {
  const auto holds = resolver_.HoldsMachine(*process.info);
  state.unsure = holds == Holds::kNotNow;
  if (holds != Holds::kNo) return;
  state.holds_machine = false;
  RestartLooks(state);
}

void WorkloadIndex::Identify(const activity::ProcessSample& process, SlotState& state) {
  const bool changed = state.version != process.version;
  const bool just_found = std::exchange(state.machine_due, false);
  if (state.holds_machine && !just_found && (changed || state.unsure)) AskForMachine(process, state);
  workload::ProcessOwner owner = resolver_.Resolve(*process.info, state.holds_machine);
  const bool late = owner.late != workload::Delayed::kNo;
  if (changed || !late || owner.vm) state.identified = ++identifications_;
  if (changed || (!late && !state.unsure)) state.retry_tick = state.late = 0;
  state.version = process.version;
  if (late || state.unsure) RetryLater(late ? owner.late : workload::Delayed::kPutOff, state);
  if (owner.vm) {
    claims_.push_back({&process, std::move(owner), state.refused});
    return;
  }
  if (!late) state.refused = false;
  SetIdentity(*process.info, owner, late ? VmSoFar(*process.info, state) : kNoRow, state);
}

/// At the next tick, then after a time that doubles: who stays late must not cost each tick something. Who is put off
/// for others comes soon again.
void WorkloadIndex::RetryLater(workload::Delayed why, SlotState& state) const {
  const uint8_t max_doublings = why == workload::Delayed::kTimedOut ? 6 : 2;
  state.late = std::min(state.late, max_doublings);
  state.retry_tick = tick_ + (1U << state.late);
  ++state.late;
}

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
  const attribution::Row member = state.row != kNoRow ? ledger_.processes().groups(state.row).vm : kNoRow;
  const attribution::Row held = ledger_.vms().Find(labels);
  const bool is_others = held != member && !ledger_.vms().MayClaim(labels, claim.owner.vm_owner);
  if (is_others && HasBetterEvidence(claim, held, processes)) Oust(held, claim, processes);
  const bool goes_on = held != kNoRow && ledger_.vms().processes(held) > 0;
  const attribution::Row vm = ledger_.Vm(labels, claim.owner.vm_owner, member);
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
  const attribution::Row vm = ledger_.vms().Find(refused.vm);
  const auto holder = std::ranges::find_if(slots_, [&](const SlotState& state) { return IsOf(state, vm); });
  const auto pid = [&](attribution::Row row) { return std::to_string(ledger_.processes().identity(row).pid); };
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

Row WorkloadIndex::VmSoFar(const cgroup::ProcessInfo& info, const SlotState& state) const {
  if (state.row == kNoRow) return kNoRow;
  return RunsSame(info, state) ? ledger_.processes().groups(state.row).vm : kNoRow;
}

bool WorkloadIndex::RunsSame(const cgroup::ProcessInfo& info, const SlotState& state) const {
  return workload::Runs(ledger_.processes().identity(state.row), info.exe);
}

/// Its /proc entry is gone, or somebody else's by now: only what is known already counts.
void WorkloadIndex::IdentifyExited(const cgroup::ProcessInfo& info, uint32_t version, SlotState& state) {
  state.version = version;
  workload::ProcessOwner owner;
  if (info.cgroup) owner.cgroup = info.cgroup->owner;
  SetIdentity(info, owner, VmSoFar(info, state), state);
}

void WorkloadIndex::SetIdentity(const cgroup::ProcessInfo& info, const workload::ProcessOwner& owner,
                                attribution::Row vm, SlotState& state) {
  Groups groups = GroupsOf(owner.cgroup, owner.container_name);
  groups.vm = vm;
  const std::string_view vm_id = vm == kNoRow ? std::string_view() : ledger_.vms().identity(vm).id;
  auto identity = workload::IdentityOf(info, owner.cgroup, vm_id, max_label_bytes_);
  if (state.row != kNoRow && ledger_.IsProcess(state.row, *identity, groups, info.kernel_thread)) return;
  if (state.row != kNoRow) ledger_.CloseProcess(state.row);
  state.row = ledger_.OpenProcess(std::move(identity), groups, info.kernel_thread);
}

Groups WorkloadIndex::GroupsOf(const cgroup::Owner& owner, std::string_view container_name) {
  conflicts_.See(owner, ledger_, *pods_, now_);
  Groups groups;
  if (!owner.pod_uid.empty()) groups.pod = ledger_.Pod(PodOf(owner.pod_uid));
  const Row pod = groups.pod;
  if (owner.container) {
    groups.container = ledger_.Container(
        workload::ContainerIdentityOf(owner, NameOf(*owner.container, container_name), max_label_bytes_), groups.pod);
    groups.pod = ledger_.PodOf(groups.container);
  }
  // A pod of somebody's own is none of the cluster's.
  if (pod != kNoRow && directory_ != nullptr && cgroup::AuthorityOf(owner.pod_uid).empty())
    AwaitNames(owner, pod, groups.container);
  return groups;
}

void WorkloadIndex::AwaitNames(const cgroup::Owner& owner, Row pod, Row container) {
  const bool knows_pod = pods_->FindPod(owner.pod_uid) != nullptr;
  const bool has_container = owner.container && cgroup::AuthorityOf(owner.container->id).empty();
  const bool knows_container = !has_container || pods_->FindContainer(owner.container->id) != nullptr;
  if (knows_pod && knows_container) return;
  directory_->Miss(owner.pod_uid, has_container ? owner.container->id : std::string_view());
  if (!awaits_) return;
  const auto is_new = [](const auto& groups, Row row) {
    return groups.listing(row) == std::remove_cvref_t<decltype(groups)>::Listing::kNew && !groups.shown(row);
  };
  if (!knows_pod && is_new(ledger_.pods(), pod)) {
    ledger_.HoldPod(pod);
    pending_pods_.push_back({pod, now_});
  }
  if (!knows_container && is_new(ledger_.containers(), container)) {
    ledger_.HoldContainer(container);
    pending_containers_.push_back({container, now_});
  }
}

void WorkloadIndex::ReleasePending() {
  const auto release = [&](std::vector<Pending>& pending, auto&& knows, void (Ledger::*touch)(Row),
                           void (Ledger::*let_go)(Row)) {
    std::erase_if(pending, [&](const Pending& one) {
      (ledger_.*touch)(one.row);
      if (!knows(one.row) && !HasWaitedEnough(one.since)) return false;
      (ledger_.*let_go)(one.row);
      return true;
    });
  };
  release(
      pending_containers_,
      [&](Row row) { return pods_->FindContainer(ledger_.containers().identity(row).id) != nullptr; },
      &Ledger::TouchContainer, &Ledger::ReleaseContainer);
  release(
      pending_pods_, [&](Row row) { return pods_->FindPod(ledger_.pods().identity(row).id) != nullptr; },
      &Ledger::TouchPod, &Ledger::ReleasePod);
}

snapshot::PodIdentity WorkloadIndex::PodOf(const std::string& uid) const {
  const snapshot::PodIdentity* const known = pods_->FindPod(uid);
  if (known == nullptr) return {.id = uid};
  snapshot::PodIdentity identity = *known;
  identity.id = uid;  // a static pod's cgroup shows another one than the API server does
  return identity;
}

std::string_view WorkloadIndex::NameOf(const ContainerId& container, std::string_view otherwise) const {
  const workload::PodMap::Container* const known = pods_->FindContainer(container.id);
  return known == nullptr || known->name.empty() ? otherwise : known->name;
}

/// Names that come late, or change, reach whoever runs already. What the directory has forgotten stays known.
void WorkloadIndex::LearnPods() {
  if (directory_ == nullptr) return;
  awaits_ = directory_->status().up;
  auto latest = directory_->Latest();
  if (latest == pods_) return;
  pods_ = std::move(latest);
  // Compared first: of thousands of rows a new version changes a few, and only these cost a copy.
  for (Row row = 0; row < ledger_.pods().size(); ++row) {
    if (!ledger_.pods().running(row)) continue;
    const snapshot::PodIdentity& shown = ledger_.pods().identity(row);
    const snapshot::PodIdentity* const known = pods_->FindPod(shown.id);
    if (known != nullptr && !HasSameNames(*known, shown)) ledger_.Relabel(row, PodOf(shown.id));
  }
  for (Row row = 0; row < ledger_.containers().size(); ++row) {
    if (!ledger_.containers().running(row)) continue;
    const snapshot::ContainerIdentity& shown = ledger_.containers().identity(row);
    const workload::PodMap::Container* const known = pods_->FindContainer(shown.id);
    if (known == nullptr || known->name.empty() || known->name == shown.name) continue;
    snapshot::ContainerIdentity identity = shown;
    identity.name = LabelText(known->name, max_label_bytes_);
    ledger_.Relabel(row, identity);
  }
}

void WorkloadIndex::KeepAlive(const cgroup::Owner& owner) {
  conflicts_.See(owner, ledger_, *pods_, now_);
  if (owner.container) {
    if (const auto row = ledger_.containers().Find(*owner.container); row != kNoRow) ledger_.TouchContainer(row);
  } else if (!owner.pod_uid.empty()) {
    if (const auto row = ledger_.pods().Find(owner.pod_uid); row != kNoRow) ledger_.TouchPod(row);
  }
}

}  // namespace kepler::pipeline
