#pragma once
// Builds label texts from what was read about a workload: sanitised and bounded. Every `owner` comes from a Cgroup or a
// Membership, whose ids are already sanitised. Display texts have at most `max_bytes`. The program of a virtual machine
// also shows whether the process is unchanged. Pure.
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "cgroup/cgroup.h"
#include "snapshot/identity.h"

namespace kepler::workload {

using ProcessIdentityPtr = std::shared_ptr<const snapshot::ProcessIdentity>;

/// `vm_id`: id of the virtual machine that the process runs; "" for an ordinary process. A VM inside a container has
/// the type "container", as upstream's does.
[[nodiscard]] ProcessIdentityPtr IdentityOf(const cgroup::ProcessInfo& process, const cgroup::Owner& owner,
                                            std::string_view vm_id, size_t max_bytes = kMaxLabelBytes);
/// Builds the identity of a process with only these details known.
[[nodiscard]] ProcessIdentityPtr IdentityOf(int32_t pid, std::string_view comm, std::string_view exe,
                                            const cgroup::Owner& owner, size_t max_bytes = kMaxLabelBytes);

/// Returns true if the labels of a virtual machine's process show `exe`.
[[nodiscard]] bool Runs(const snapshot::ProcessIdentity& process, std::string_view exe);

[[nodiscard]] snapshot::VmIdentity IdentityOf(const VmId& vm, std::string_view name,
                                              const snapshot::VmMetadata& metadata = {});
/// `owner` must have a container. `name`: "" if unknown.
[[nodiscard]] snapshot::ContainerIdentity ContainerIdentityOf(const cgroup::Owner& owner, std::string_view name,
                                                              size_t max_bytes = kMaxLabelBytes);

}  // namespace kepler::workload
