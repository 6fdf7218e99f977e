#include "pipeline/workload_index.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "cgroup/owner.h"

namespace kepler::pipeline {
namespace {

using attribution::kNoRow;
using attribution::Membership;
using attribution::Row;

constexpr std::string_view kRegularType = "regular";
constexpr std::string_view kContainerType = "container";
constexpr std::string_view kVmType = "vm";

/// The owner as the labels show it, which is also what the ledger knows it by.
cgroup::Owner LabelsOf(cgroup::Owner owner) {
  owner.pod_uid = LabelText(owner.pod_uid);
  if (owner.container) *owner.container = {LabelText(owner.container->runtime), LabelText(owner.container->id)};
  return owner;
}

snapshot::VmIdentity VmLabelsOf(const workload::ProcessOwner& owner) {
  return {LabelText(owner.vm->id), LabelText(owner.vm_name), LabelText(owner.vm->hypervisor)};
}

}  // namespace

void WorkloadIndex::Apply(const activity::ActivitySample& sample, std::span<const activity::LivingCgroup> cgroups) {
  ++tick_;
  resolver_.BeginLook();
  for (const uint32_t gone : sample.gone_cgroups) cgroup_owners_.erase(gone);
  for (const uint32_t gone : sample.gone_memberships)
    if (gone < brief_owners_.size()) brief_owners_[gone] = {};

  for (const activity::ExitedSample& exited : sample.exited) {
    SlotState& state = slots_[exited.slot];
    if (exited.info != nullptr && exited.version != state.version) IdentifyExited(*exited.info, exited.version, state);
    if (exited.cpu.count() > 0) ledger_.UseProcess(state.row, exited.cpu, exited.events);
    ledger_.EndProcess(state.row);
    state = {};
  }
  // Before the living: whoever has the pid of a brief now got it after it.
  ApplyBriefs(sample.briefs);
  if (sample.renumbered) Renumber(sample.moved);
  AskAgain(sample.taken_at);
  for (const activity::ProcessSample& process : sample.processes) {
    if (process.slot >= slots_.size()) slots_.resize(process.slot + 1);
    SlotState& state = slots_[process.slot];
    const bool retry = state.retry_tick != 0 && state.retry_tick <= tick_;
    if ((state.version != process.version || retry) && !Identify(process, state)) continue;
    ledger_.UseProcess(state.row, process.cpu, process.events);
  }
  SettleClaims();
  for (const activity::ResidualSample& residual : sample.residuals)
    ledger_.UseResidual(GroupsOf(OwnerOf(residual.cgroup, residual.cgroup_path), ""), residual.cpu);
  ledger_.UseUnattributed(sample.invisible + sample.lost);
  for (const activity::LivingCgroup& cgroup : cgroups) KeepAlive(OwnerOf(cgroup.cgroup, cgroup.path));
}

void WorkloadIndex::Renumber(std::span<const activity::MovedProcess> moved) {
  std::vector<SlotState> before = std::exchange(slots_, {});
  for (const activity::MovedProcess& process : moved) {
    if (process.to >= slots_.size()) slots_.resize(process.to + 1);
    SlotState& from = before[process.from];
    slots_[process.to] = {.row = std::exchange(from.row, kNoRow), .refused = from.refused, .told = from.told};
  }
  for (const SlotState& gone : before)
    if (gone.row != kNoRow) ledger_.EndProcess(gone.row);
  cgroup_owners_.clear();
  brief_owners_.clear();
  refused_.clear();  // everybody is identified anew
}

/// There may be a hundred thousand in a tick: what they cost is an array look-up each.
void WorkloadIndex::ApplyBriefs(std::span<const activity::BriefSample> briefs) {
  for (const activity::BriefSample& brief : briefs) {
    if (brief.membership >= brief_owners_.size()) brief_owners_.resize(brief.membership + 1);
    BriefOwner& known = brief_owners_[brief.membership];
    if (!known.known) {
      known.owner = LabelsOf(cgroup::OwnerOfMembership(*brief.cgroups));
      known.known = true;
    }
    if (known.tick != tick_) {
      known.groups = GroupsOf(known.owner, "");
      known.tick = tick_;
    }
    ledger_.UseBrief({.pid = brief.key.tgid,
                      .comm = brief.comm,
                      .exe = brief.exe,
                      .type = known.owner.container ? kContainerType : kRegularType,
                      .groups = known.groups,
                      .cpu = brief.cpu,
                      .events = brief.events,
                      .rest = brief.rest});
  }
}

bool WorkloadIndex::Identify(const activity::ProcessSample& process, SlotState& state) {
  workload::ProcessOwner owner = resolver_.Resolve(*process.info);
  const bool late = owner.late != workload::Late::kNo;
  if (state.version != process.version || !late || owner.vm) state.identified = ++identifications_;
  if (state.version != process.version || !late) state.retry_tick = state.late = 0;
  state.version = process.version;
  if (late) RetryLater(owner.late, state);
  if (owner.vm) {
    claims_.push_back({&process, std::move(owner), state.refused});
    return false;
  }
  if (!late) state.refused = false;
  SetIdentity(*process.info, owner, late ? VmSoFar(*process.info, state) : kNoRow, state);
  return true;
}

/// At the next tick, then after a time that doubles: who stays late must not cost each tick something. Who is put off
/// for others comes soon again.
void WorkloadIndex::RetryLater(workload::Late why, SlotState& state) const {
  const uint8_t max_doublings = why == workload::Late::kTimedOut ? 6 : 2;
  state.late = std::min(state.late, max_doublings);
  state.retry_tick = tick_ + (1U << state.late);
  ++state.late;
}

/// Of those that a tick shows first the oldest is the VM: where the agent has just started its rightful owner was there
/// before whoever copies its id. Who was refused before comes last. A process that is identified anew at each look (its
/// name is its own to change) must not leave a refusal behind each time.
void WorkloadIndex::SettleClaims() {
  std::erase_if(refused_, [&](const Refused& refused) { return IsOver(refused); });
  std::ranges::sort(claims_, {}, [](const Claim& claim) {
    return std::tuple(claim.refused_before, claim.process->info->key.start_ticks, claim.process->info->key.tgid);
  });
  for (const Claim& claim : claims_) Settle(claim);
  claims_.clear();
}

void WorkloadIndex::Settle(const Claim& claim) {
  const activity::ProcessSample& process = *claim.process;
  SlotState& state = slots_[process.slot];
  snapshot::VmIdentity labels = VmLabelsOf(claim.owner);
  const attribution::Row member = state.row != kNoRow ? ledger_.processes().groups(state.row).vm : kNoRow;
  const attribution::Row vm = ledger_.Vm(labels, claim.owner.vm_owner, member);
  SetIdentity(*process.info, claim.owner, vm, state);
  ledger_.UseProcess(state.row, process.cpu, process.events);
  state.refused = vm == kNoRow;
  if (state.refused) refused_.push_back({process.slot, state.identified, std::move(labels), claim.owner.vm_owner});
}

/// Those whose VM nobody else is any more are identified anew. One that is refused twice is told, once in its life:
/// that a VM's next process is seen while the last one's end is not known yet is normal.
void WorkloadIndex::AskAgain(BootTime now) {
  std::erase_if(refused_, [&](const Refused& refused) {
    if (IsOver(refused)) return true;
    SlotState& state = slots_[refused.slot];
    if (ledger_.vms().MayClaim(refused.vm, refused.owner)) {
      state.version = 0;
      return true;
    }
    if (!std::exchange(state.told, true)) LogRefusal(refused, now);
    return false;
  });
}

void WorkloadIndex::LogRefusal(const Refused& refused, BootTime now) {
  const auto verdict = limiter_.Ask(refused.vm.hypervisor + '/' + refused.vm.id, now);
  if (!verdict.pass) return;
  const attribution::Row vm = ledger_.vms().Find(refused.vm);
  const auto holder = std::ranges::find_if(slots_, [&](const SlotState& state) {
    return state.row != kNoRow && ledger_.processes().groups(state.row).vm == vm;
  });
  const auto pid = [&](attribution::Row row) { return std::to_string(ledger_.processes().identity(row).pid); };
  log::Warn(
      "A process claims the id of a virtual machine that another owner runs. It is counted as a plain process until "
      "that machine has ended. Who owns a machine are its user and its cgroup",
      {{"vm_id", refused.vm.id},
       {"hypervisor", refused.vm.hypervisor},
       {"pid", pid(slots_[refused.slot].row)},
       {"uid", std::to_string(refused.owner.uid)},
       {"owner_pid", holder != slots_.end() ? pid(holder->row) : ""},
       {"owner_uid", std::to_string(ledger_.vms().owner(vm).uid)},
       {"suppressed", std::to_string(verdict.suppressed)}});
}

Row WorkloadIndex::VmSoFar(const os::ProcessInfo& info, const SlotState& state) const {
  if (state.row == kNoRow) return kNoRow;
  return ledger_.processes().identity(state.row).exe == LabelText(info.exe) ? ledger_.processes().groups(state.row).vm
                                                                            : kNoRow;
}

/// Its /proc entry is gone, or somebody else's by now: only what is known already counts.
void WorkloadIndex::IdentifyExited(const os::ProcessInfo& info, uint32_t version, SlotState& state) {
  state.version = version;
  workload::ProcessOwner owner;
  if (info.cgroup) owner.cgroup = cgroup::OwnerOfMembership(*info.cgroup);
  SetIdentity(info, owner, VmSoFar(info, state), state);
}

void WorkloadIndex::SetIdentity(const os::ProcessInfo& info, const workload::ProcessOwner& owner, attribution::Row vm,
                                SlotState& state) {
  const cgroup::Owner cgroup = LabelsOf(owner.cgroup);
  Membership groups = GroupsOf(cgroup, owner.container_name);
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = info.key.tgid;
  identity->comm = LabelText(info.comm);
  identity->exe = LabelText(info.exe);
  identity->type = kRegularType;
  groups.vm = vm;
  if (vm != kNoRow) {
    identity->type = kVmType;
    identity->vm_id = ledger_.vms().identity(vm).id;
  }
  if (cgroup.container) {  // a VM inside a container is both; the label says container, as upstream's does
    identity->type = kContainerType;
    identity->container_id = cgroup.container->id;
  }

  if (state.row != kNoRow && ledger_.IsProcess(state.row, *identity, groups)) return;
  if (state.row != kNoRow) ledger_.CloseProcess(state.row);
  state.row = ledger_.OpenProcess(std::move(identity), groups);
}

Membership WorkloadIndex::GroupsOf(const cgroup::Owner& owner, std::string_view container_name) {
  Membership groups;
  if (!owner.pod_uid.empty()) groups.pod = ledger_.Pod({owner.pod_uid, "", ""});
  if (owner.container) {
    groups.container = ledger_.Container(
        {owner.container->id, LabelText(container_name), owner.container->runtime, owner.pod_uid}, groups.pod);
    groups.pod = ledger_.PodOf(groups.container);
  }
  return groups;
}

const cgroup::Owner& WorkloadIndex::OwnerOf(uint32_t cgroup, std::string_view path) {
  const auto [it, fresh] = cgroup_owners_.try_emplace(cgroup);
  if (fresh) it->second = LabelsOf(cgroup::OwnerOfPath(path));
  return it->second;
}

void WorkloadIndex::KeepAlive(const cgroup::Owner& owner) {
  if (owner.container) {
    if (const auto row = ledger_.containers().Find(*owner.container); row != kNoRow) ledger_.TouchContainer(row);
  } else if (!owner.pod_uid.empty()) {
    if (const auto row = ledger_.pods().Find(owner.pod_uid); row != kNoRow) ledger_.TouchPod(row);
  }
}

}  // namespace kepler::pipeline
