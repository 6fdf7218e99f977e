#include "pipeline/workload_index.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "workload/cgroup_owner.h"

namespace kepler::pipeline {
namespace {

using attribution::kNoRow;
using attribution::Membership;

constexpr std::string_view kRegularType = "regular";
constexpr std::string_view kContainerType = "container";
constexpr std::string_view kVmType = "vm";

/// The owner as the labels show it, which is also what the ledger knows it by.
workload::CgroupOwner LabelsOf(workload::CgroupOwner owner) {
  owner.pod_uid = LabelText(owner.pod_uid);
  if (owner.container) *owner.container = {LabelText(owner.container->runtime), LabelText(owner.container->id)};
  return owner;
}

}  // namespace

void WorkloadIndex::Apply(const activity::ActivitySample& sample, std::span<const activity::LivingCgroup> cgroups) {
  ++tick_;
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
  for (const activity::ProcessSample& process : sample.processes) {
    if (process.slot >= slots_.size()) slots_.resize(process.slot + 1);
    SlotState& state = slots_[process.slot];
    if (state.version != process.version) Identify(*process.info, process.version, state);
    ledger_.UseProcess(state.row, process.cpu, process.events);
  }
  for (const activity::ResidualSample& residual : sample.residuals)
    ledger_.UseResidual(GroupsOf(OwnerOf(residual.cgroup, residual.cgroup_path), ""), residual.cpu);
  ledger_.UseUnattributed(sample.invisible + sample.lost);
  for (const activity::LivingCgroup& cgroup : cgroups) KeepAlive(OwnerOf(cgroup.cgroup, cgroup.path));
}

/// There may be a hundred thousand in a tick: what they cost is an array look-up each.
void WorkloadIndex::ApplyBriefs(std::span<const activity::BriefSample> briefs) {
  for (const activity::BriefSample& brief : briefs) {
    if (brief.membership >= brief_owners_.size()) brief_owners_.resize(brief.membership + 1);
    BriefOwner& known = brief_owners_[brief.membership];
    if (!known.known) {
      known.owner = LabelsOf(workload::OwnerOfMembership(*brief.cgroups));
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

void WorkloadIndex::Identify(const os::ProcessInfo& info, uint32_t version, SlotState& state) {
  state.version = version;
  SetIdentity(info, resolver_.Resolve(info), state);
}

/// Its /proc entry is gone, or somebody else's by now: only what is known already counts. Whoever runs the same program
/// as before still is the same VM.
void WorkloadIndex::IdentifyExited(const os::ProcessInfo& info, uint32_t version, SlotState& state) {
  state.version = version;
  workload::ProcessOwner owner;
  if (info.cgroup) owner.cgroup = workload::OwnerOfMembership(*info.cgroup);
  const attribution::Row vm = state.row != kNoRow ? ledger_.GroupsOf(state.row).vm : kNoRow;
  if (vm != kNoRow && ledger_.IdentityOf(state.row).exe == LabelText(info.exe)) {
    const snapshot::VmIdentity& known = ledger_.VmIdentityOf(vm);
    owner.vm = VmId{known.hypervisor, known.id};
    owner.vm_name = known.name;
  }
  SetIdentity(info, owner, state);
}

void WorkloadIndex::SetIdentity(const os::ProcessInfo& info, const workload::ProcessOwner& owner, SlotState& state) {
  const workload::CgroupOwner cgroup = LabelsOf(owner.cgroup);
  Membership groups = GroupsOf(cgroup, owner.container_name);
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = info.key.tgid;
  identity->comm = LabelText(info.comm);
  identity->exe = LabelText(info.exe);
  identity->type = kRegularType;
  if (owner.vm) {
    identity->type = kVmType;
    identity->vm_id = LabelText(owner.vm->id);
    groups.vm = ledger_.Vm({identity->vm_id, LabelText(owner.vm_name), LabelText(owner.vm->hypervisor)});
  }
  if (cgroup.container) {  // a VM inside a container is both; the label says container, as upstream's does
    identity->type = kContainerType;
    identity->container_id = cgroup.container->id;
  }

  if (state.row != kNoRow && ledger_.IsProcess(state.row, *identity, groups)) return;
  if (state.row != kNoRow) ledger_.CloseProcess(state.row);
  state.row = ledger_.OpenProcess(std::move(identity), groups);
}

Membership WorkloadIndex::GroupsOf(const workload::CgroupOwner& owner, std::string_view container_name) {
  Membership groups;
  if (!owner.pod_uid.empty()) groups.pod = ledger_.Pod({owner.pod_uid, "", ""});
  if (owner.container) {
    groups.container = ledger_.Container(
        {owner.container->id, LabelText(container_name), owner.container->runtime, owner.pod_uid}, groups.pod);
    groups.pod = ledger_.PodOf(groups.container);
  }
  return groups;
}

const workload::CgroupOwner& WorkloadIndex::OwnerOf(uint32_t cgroup, std::string_view path) {
  const auto [it, fresh] = cgroup_owners_.try_emplace(cgroup);
  if (fresh) it->second = LabelsOf(workload::OwnerOfPath(path));
  return it->second;
}

void WorkloadIndex::KeepAlive(const workload::CgroupOwner& owner) {
  if (owner.container) {
    if (const auto row = ledger_.FindContainer(*owner.container); row != kNoRow) ledger_.TouchContainer(row);
  } else if (!owner.pod_uid.empty()) {
    if (const auto row = ledger_.FindPod(owner.pod_uid); row != kNoRow) ledger_.TouchPod(row);
  }
}

}  // namespace kepler::pipeline
