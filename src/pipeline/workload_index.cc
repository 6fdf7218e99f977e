#include "pipeline/workload_index.h"

#include <string>
#include <utility>

#include "base/text.h"
#include "workload/cgroup_owner.h"

namespace kepler::pipeline {
namespace {

using attribution::kNoRow;
using attribution::Membership;

/// The owner as the labels show it, which is also what the ledger knows it by.
workload::CgroupOwner LabelsOf(workload::CgroupOwner owner) {
  owner.pod_uid = LabelText(owner.pod_uid);
  if (owner.container) *owner.container = {LabelText(owner.container->runtime), LabelText(owner.container->id)};
  return owner;
}

}  // namespace

void WorkloadIndex::Apply(const activity::ActivitySample& sample, std::span<const activity::LivingCgroup> cgroups) {
  for (const uint32_t gone : sample.gone_cgroups) cgroup_owners_.erase(gone);

  for (const activity::ExitedSample& exited : sample.exited) {
    SlotState& state = slots_[exited.slot];
    if (exited.cpu.count() > 0) ledger_.UseProcess(state.row, exited.cpu);
    ledger_.EndProcess(state.row);
    state = {};
  }
  for (const activity::ProcessSample& process : sample.processes) {
    if (process.slot >= slots_.size()) slots_.resize(process.slot + 1);
    SlotState& state = slots_[process.slot];
    if (state.version != process.version) Identify(process, state);
    ledger_.UseProcess(state.row, process.cpu);
  }
  for (const activity::ResidualSample& residual : sample.residuals)
    ledger_.UseResidual(GroupsOf(OwnerOf(residual.cgroup, residual.cgroup_path), ""), residual.cpu);
  ledger_.UseUnattributed(sample.invisible + sample.lost);
  for (const activity::LivingCgroup& cgroup : cgroups) KeepAlive(OwnerOf(cgroup.cgroup, cgroup.path));
}

void WorkloadIndex::Identify(const activity::ProcessSample& process, SlotState& state) {
  const os::ProcessInfo& info = *process.info;
  workload::ProcessOwner owner = resolver_.Resolve(info);
  owner.cgroup = LabelsOf(std::move(owner.cgroup));
  Membership groups = GroupsOf(owner.cgroup, owner.container_name);
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = info.key.tgid;
  identity->comm = LabelText(info.comm);
  identity->exe = LabelText(info.exe);
  identity->type = "regular";
  if (owner.vm) {
    identity->type = "vm";
    identity->vm_id = LabelText(owner.vm->id);
    groups.vm = ledger_.Vm({identity->vm_id, LabelText(owner.vm_name), LabelText(owner.vm->hypervisor)});
  }
  if (owner.cgroup.container) {  // a VM inside a container is both; the label says container, as upstream's does
    identity->type = "container";
    identity->container_id = owner.cgroup.container->id;
  }

  state.version = process.version;
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
