#include "workload/identity_of.h"

namespace kepler::workload {
namespace {

std::shared_ptr<snapshot::ProcessIdentity> Make(int32_t pid, std::string_view comm, std::string_view exe,
                                                const cgroup::Owner& owner, size_t max_bytes) {
  auto identity = std::make_shared<snapshot::ProcessIdentity>();
  identity->pid = pid;
  identity->comm = LabelText(comm, max_bytes);
  identity->exe = LabelText(exe, max_bytes);
  identity->type = owner.container ? "container" : "regular";
  if (owner.container) identity->container_id = owner.container->id;
  return identity;
}

}  // namespace

ProcessIdentityPtr IdentityOf(int32_t pid, std::string_view comm, std::string_view exe, const cgroup::Owner& owner,
                              size_t max_bytes) {
  return Make(pid, comm, exe, owner, max_bytes);
}

ProcessIdentityPtr IdentityOf(const cgroup::ProcessInfo& process, const cgroup::Owner& owner, std::string_view vm_id,
                              size_t max_bytes) {
  auto identity = Make(process.key.tgid, process.comm, process.exe, owner, max_bytes);
  identity->vm_id = vm_id;
  if (!vm_id.empty()) identity->exe = LabelText(process.exe);
  if (!vm_id.empty() && !owner.container) identity->type = "vm";
  return identity;
}

bool Runs(const snapshot::ProcessIdentity& process, std::string_view exe) { return process.exe == LabelText(exe); }

snapshot::VmIdentity IdentityOf(const VmId& vm, std::string_view name, const snapshot::VmMetadata& metadata) {
  return {.id = LabelText(vm.id),
          .name = LabelText(name),
          .hypervisor = LabelText(vm.hypervisor),
          .metadata = {.instance_name = LabelText(metadata.instance_name),
                       .flavor = LabelText(metadata.flavor),
                       .project_id = LabelText(metadata.project_id),
                       .project_name = LabelText(metadata.project_name),
                       .user_name = LabelText(metadata.user_name)}};
}

snapshot::ContainerIdentity ContainerIdentityOf(const cgroup::Owner& owner, std::string_view name, size_t max_bytes) {
  return {owner.container->id, LabelText(name, max_bytes), owner.container->runtime, owner.pod_uid};
}

}  // namespace kepler::workload
