#include "pipeline/workload_index.h"

#include <algorithm>
#include <utility>

#include "cgroup/owner.h"

namespace kepler::pipeline {
namespace {

using attribution::Groups;
using attribution::kNoRow;
using attribution::Row;
using workload::Holds;
using workload::hypervisor::kNoMachine;
using workload::hypervisor::Machine;

}  // namespace

void WorkloadIndex::Apply(const activity::ActivitySample& sample, std::span<const cgroup::CgroupPtr> cgroups) {
  ++tick_;
  now_ = sample.taken_at;
  resolver_.BeginScan();
  LearnPods();
  ReleasePending();
  ApplyExited(sample.exited);
  // Short-lived processes are first, because a living process may have got the pid of one of them.
  ApplyShortLived(sample.short_lived);
  if (sample.renumbered) Renumber(sample.moved);
  IdentifyAll(sample.processes);
  Charge(sample);
  for (const cgroup::CgroupPtr& cgroup : cgroups) KeepAlive(cgroup->owner);
  conflicts_.EndTick();
}

void WorkloadIndex::ApplyExited(std::span<const activity::ExitedSample> exited) {
  for (const activity::ExitedSample& process : exited) {
    SlotState& state = slots_[process.slot];
    if (process.info != nullptr && process.version != state.version)
      IdentifyExited(*process.info, process.version, state);
    if (process.cpu.count() > 0) ledger_.UseProcess(state.row, process.cpu, process.events);
    End(state);
  }
}

void WorkloadIndex::Charge(const activity::ActivitySample& sample) {
  for (const activity::ProcessSample& process : sample.processes)
    ledger_.UseProcess(slots_[process.slot].row, process.cpu, process.events);
  for (const activity::ResidualSample& residual : sample.residuals)
    ledger_.UseResidual(GroupsOf(residual.cgroup->owner, ""), residual.cpu);
  ledger_.UseUnattributed(sample.invisible + sample.lost);
}

void WorkloadIndex::Renumber(std::span<const activity::MovedProcess> moved) {
  std::vector<SlotState> before = std::exchange(slots_, {});
  for (const activity::MovedProcess& process : moved) {
    if (process.to >= slots_.size()) slots_.resize(process.to + 1);
    SlotState& from = before[process.from];
    slots_[process.to] = {.row = std::exchange(from.row, kNoRow),
                          .identity = std::move(from.identity),
                          .machine = from.machine,
                          .search = from.search.Moved(),
                          .refused = from.refused,
                          .reported = from.reported};
  }
  for (SlotState& gone : before)
    if (gone.row != kNoRow) End(gone);
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
                           .late_remainder = process.late_remainder,
                           .uid = process.uid});
  }
}

void WorkloadIndex::IdentifyAll(Processes processes) {
  AskAgain();
  IdentifyChanged(processes);
  SettleClaims(processes);
}

void WorkloadIndex::IdentifyChanged(Processes processes) {
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
    // The first has had its turn, even if it cannot be read.
    if (put_off && i > 0 && look_from_ == 0) look_from_ = pid(process);
  }
}

void WorkloadIndex::End(SlotState& state) {
  ledger_.EndProcess(state.row);
  vm_claims_.Leave(state.machine);
  state = {};
}

bool WorkloadIndex::FindMachine(const activity::ProcessSample& process, SlotState& state) {
  if (state.version != process.version && state.row != kNoRow && !RunsSame(*process.info, state))
    state.search.Restart();
  state.search.Use(process.cpu);
  if (!state.search.IsDue() || state.machine != kNoMachine) return true;
  const Holds holds = resolver_.HoldsMachine(*process.info);
  state.search.Found(holds);
  state.machine_due = holds == Holds::kYes;
  return holds != Holds::kNotNow;
}

void WorkloadIndex::Identify(const activity::ProcessSample& process, SlotState& state) {
  const bool changed = state.version != process.version;
  const bool just_found = std::exchange(state.machine_due, false);
  if (state.search.holds() && !just_found && (changed || state.search.unsure()))
    state.search.Confirm(resolver_.HoldsMachine(*process.info));
  workload::ProcessOwner owner = resolver_.Resolve(*process.info, state.search.holds());
  const bool late = owner.late != workload::Delayed::kNo;
  if (changed || !late || owner.vm) state.identified = ++identifications_;
  if (changed || (!late && !state.search.unsure())) state.retry_tick = state.late = 0;
  state.version = process.version;
  if (late || state.search.unsure()) RetryLater(late ? owner.late : workload::Delayed::kPutOff, state);
  if (owner.vm) {
    const workload::hypervisor::ClaimRank rank{owner.evidence, state.refused, process.info->key};
    claims_.push_back({&process, std::move(owner), rank});
    return;
  }
  if (!late) state.refused = false;
  SetIdentity(*process.info, owner, late ? MachineSoFar(*process.info, state) : kNoMachine, state);
}

/// At the next tick, then after a time that doubles: who stays late must not cost each tick something. Who is put off
/// for others comes soon again.
void WorkloadIndex::RetryLater(workload::Delayed why, SlotState& state) const {
  const uint8_t max_doublings = why == workload::Delayed::kTimedOut ? 6 : 2;
  state.late = std::min(state.late, max_doublings);
  state.retry_tick = tick_ + (1U << state.late);
  ++state.late;
}

/// Its /proc entry is gone, or somebody else's by now: only what is known already counts.
void WorkloadIndex::IdentifyExited(const cgroup::ProcessInfo& info, uint32_t version, SlotState& state) {
  state.version = version;
  workload::ProcessOwner owner;
  if (info.cgroup) owner.cgroup = info.cgroup->owner;
  SetIdentity(info, owner, MachineSoFar(info, state), state);
}

void WorkloadIndex::SetIdentity(const cgroup::ProcessInfo& info, const workload::ProcessOwner& owner, Machine machine,
                                SlotState& state) {
  Groups groups = GroupsOf(owner.cgroup, owner.container_name);
  groups.vm = machine == kNoMachine ? kNoRow : vm_rows_[machine];
  const std::string_view vm_id = machine == kNoMachine ? std::string_view() : vm_claims_.holder(machine).vm.id;
  state.identity = workload::IdentityOf(info, owner.cgroup, vm_id, max_label_bytes_);
  state.row = ledger_.UpdateProcess(state.row, state.identity, groups, info.kernel_thread, info.uid);
  vm_claims_.Join(machine);
  vm_claims_.Leave(std::exchange(state.machine, machine));
}

Groups WorkloadIndex::GroupsOf(const cgroup::Owner& owner, std::string_view container_name) {
  conflicts_.See(owner, *pods_, now_);
  Groups groups;
  if (!owner.pod_uid.empty()) {
    groups.pod = ledger_.Pod(PodOf(owner.pod_uid));
    open_pods_.Open(groups.pod, "", owner.pod_uid);
    if (const workload::KnownPod* const known = pods_->Find(owner.pod_uid)) SetOwner(groups.pod, *known);
  }
  const Row pod = groups.pod;
  if (owner.container) {
    groups.container = ledger_.Container(
        workload::ContainerIdentityOf(owner, NameOf(*owner.container, container_name), max_label_bytes_), pod);
    open_containers_.Open(groups.container, owner.container->runtime, owner.container->id);
    OpenGroups::Group& open = open_containers_[groups.container];
    if (pod != kNoRow) open.pod = pod;  // another cgroup of the container may not show its pod
    groups.pod = open.pod;
    if (groups.pod != kNoRow) open_pods_.Touch(groups.pod);
  }
  // A pod of somebody's own is none of the cluster's.
  if (pod != kNoRow && directory_ != nullptr && cgroup::AuthorityOf(owner.pod_uid).empty())
    AwaitNames(owner, pod, groups.container);
  return groups;
}

void WorkloadIndex::KeepAlive(const cgroup::Owner& owner) {
  conflicts_.See(owner, *pods_, now_);
  if (owner.container) {
    const Row row = open_containers_.Find(owner.container->runtime, owner.container->id);
    if (row != kNoRow) TouchContainer(row);
  } else if (!owner.pod_uid.empty()) {
    if (const Row row = open_pods_.Find("", owner.pod_uid); row != kNoRow) TouchPod(row);
  }
}

void WorkloadIndex::TouchContainer(Row container) {
  ledger_.TouchContainer(container);
  open_containers_.Touch(container);
  if (const Row pod = open_containers_[container].pod; pod != kNoRow) open_pods_.Touch(pod);
}

void WorkloadIndex::TouchPod(Row pod) {
  ledger_.TouchPod(pod);
  open_pods_.Touch(pod);
}

void WorkloadIndex::Forget(const attribution::ClosedGroups& containers, const attribution::ClosedGroups& pods) {
  open_containers_.Close(containers);
  open_pods_.Close(pods);
  // An ended container may still be listed when its pod no longer is.
  for (const Row pod : pods.freed)
    for (Row row = 0; row < open_containers_.size(); ++row)
      if (open_containers_[row].pod == pod) open_containers_[row].pod = kNoRow;
}

}  // namespace kepler::pipeline
