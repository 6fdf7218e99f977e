#include "workload/identity.h"

#include "base/text.h"

namespace kepler::workload {
namespace {

std::shared_ptr<snapshot::ProcessIdentity> Make(int32_t pid, std::string_view comm, std::string_view exe,
                                                const cgroup::Owner& owner) {
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = pid;
  identity->comm = LabelText(comm);
  identity->exe = LabelText(exe);
  identity->type = owner.container ? "container" : "regular";
  if (owner.container) identity->container_id = owner.container->id;
  return identity;
}

}  // namespace

ProcessIdentityPtr IdentityOf(int32_t pid, std::string_view comm, std::string_view exe, const cgroup::Owner& owner) {
  return Make(pid, comm, exe, owner);
}

ProcessIdentityPtr IdentityOf(const cgroup::ProcessInfo& process, const cgroup::Owner& owner, std::string_view vm_id) {
  auto identity = Make(process.key.tgid, process.comm, process.exe, owner);
  identity->vm_id = vm_id;
  if (!vm_id.empty() && !owner.container) identity->type = "vm";
  return identity;
}

bool Runs(const snapshot::ProcessIdentity& process, std::string_view exe) { return process.exe == LabelText(exe); }

snapshot::VmIdentity IdentityOf(const VmId& vm, std::string_view name) {
  return {LabelText(vm.id), LabelText(name), LabelText(vm.hypervisor)};
}

snapshot::ContainerIdentity ContainerIdentityOf(const cgroup::Owner& owner, std::string_view name) {
  return {owner.container->id, LabelText(name), owner.container->runtime, owner.pod_uid};
}

}  // namespace kepler::workload
