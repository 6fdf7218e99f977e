#pragma once
// Where what was read about a workload becomes what its labels say: sanitised, bounded. Every `owner` here is that of a
// Cgroup or a Membership, whose ids are so already. Texts that name, not identify, have at most `max_bytes`
// (the program of a virtual machine says whether it is still that). Pure.
#include <cstddef>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "cgroup/cgroup.h"
#include "snapshot/identity.h"

namespace kepler::workload {

using ProcessIdentityPtr = std::shared_ptr<const snapshot::ProcessIdentity>;

/// `vm_id`: of the virtual machine that the process is; "" for none. A VM inside a container is both; its type says
/// container, as upstream's does.
[[nodiscard]] ProcessIdentityPtr IdentityOf(const cgroup::ProcessInfo& process, const cgroup::Owner& owner,
                                            std::string_view vm_id, size_t max_bytes = kMaxLabelBytes);
/// Of a process of which no more is known.
[[nodiscard]] ProcessIdentityPtr IdentityOf(int32_t pid, std::string_view comm, std::string_view exe,
                                            const cgroup::Owner& owner, size_t max_bytes = kMaxLabelBytes);

/// Whether the labels, which are those of a virtual machine's process, show `exe`.
[[nodiscard]] bool Runs(const snapshot::ProcessIdentity& process, std::string_view exe);

[[nodiscard]] snapshot::VmIdentity IdentityOf(const VmId& vm, std::string_view name);
/// `owner` has a container; `name`: "" where it is not known.
[[nodiscard]] snapshot::ContainerIdentity ContainerIdentityOf(const cgroup::Owner& owner, std::string_view name,
                                                              size_t max_bytes = kMaxLabelBytes);

}  // namespace kepler::workload
