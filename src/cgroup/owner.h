#pragma once
// Finds the container and pod in cgroup paths. One table has the rules for every runtime and cgroup driver. Pure.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "os/procfs.h"

namespace kepler::cgroup {

/// The owner of a cgroup. A path is only a claim: a user with write access to a cgroup tree chooses the names of new
/// directories. An id therefore begins with the authority that made the claim, unless that is the machine. The
/// authority is "uid1000/" for a user, and "3e23e8160039/" for a container (the first 12 digits of its id, or its
/// name). Nested authorities are listed from the outside in: "uid1000/3e23e8160039/<id>". Plain ids have no '/', so two
/// authorities never claim the same id. The same rule applies to UIDs of pods.
struct Owner {
  std::optional<ContainerId> container;
  std::string pod_uid;   // "" outside Kubernetes; with dashes
  std::string_view qos;  // a literal: "guaranteed", "burstable", "besteffort", or ""
  bool operator==(const Owner&) const = default;
};

/// Returns the id or UID as in the path, without its authority.
[[nodiscard]] std::string_view PlainId(std::string_view id);
/// Returns the authority of an id or UID, including the '/' at its end; "" for the machine.
[[nodiscard]] std::string_view AuthorityOf(std::string_view id);

/// Returns true if `path` is the cgroup `top` or below it. Both have no '/' at the end.
[[nodiscard]] constexpr bool IsAtOrBelow(std::string_view path, std::string_view top) {
  return path.starts_with(top) && (path.size() == top.size() || path[top.size()] == '/');
}

/// Runtimes with generated hex ids. If two of these runtimes have the same id, one of them copied the id. In other
/// runtimes, people choose the ids as names.
[[nodiscard]] std::span<const std::string_view> RuntimesWithHexIds();
/// Returns true for a runtime whose ids are the names of its containers: lxc, systemd-nspawn, `kepler run`. No cluster
/// knows them.
[[nodiscard]] bool HasNamesAsIds(std::string_view runtime);

/// Users that may create cgroups in a directory of a cgroup tree.
struct Directory {
  uint32_t uid = 0;
  bool shared = false;  // the group or all users may create cgroups too
};

/// Facts about a cgroup tree, apart from its paths.
struct TreeView {
  uint32_t machine_uid = 0;   // owns the topmost directory
  std::string_view own_path;  // path of this process; claims inside the containers on this path count as the machine's
  // nothing: the directory is not visible
  std::function<std::optional<Directory>(std::string_view path)> look_at = nullptr;
};

/// Returns the owner that one path names. The deepest container or pod is the owner, so the result for nested
/// containers is the inner container. A pod's own cgroup has a pod_uid and no container. Monitors (conmon, lxc.monitor)
/// own nothing; the owner of a monitor is the owner of the parent cgroup.
[[nodiscard]] Owner OwnerOfPath(std::string_view path);
/// Same as above, with the authority of each claim. Reads only directories above a claim. A pod inside the container of
/// another pod is a part of the outer pod.
[[nodiscard]] Owner OwnerOfPath(std::string_view path, const TreeView& tree);

/// Returns the index of the line that names the owner of a process. A line with a container precedes a line with only a
/// pod. Among these, the line with the deepest match decides. On ties, v2 is first, then cpuacct. Returns lines.size()
/// if no line names an owner.
[[nodiscard]] size_t NamingLine(const os::CgroupLines& lines);

/// Returns the index of the line that accounts the process' CPU time. This is a cpuacct line with the same owner,
/// otherwise the line that named the owner. Returns lines.size() if there is no such line.
[[nodiscard]] size_t AccountingLine(const os::CgroupLines& lines);

/// Returns the part of a path that neither the process nor its user can have created. The part ends at the outermost
/// container, the systemd unit (NAME.service, NAME.scope), or the slice of a login user. Returns "" if the path has
/// none of these.
[[nodiscard]] std::string_view UnitOfPath(std::string_view path);
/// Returns the unit in systemd's hierarchy, otherwise the unit in the first hierarchy that has one.
[[nodiscard]] std::string_view UnitOfLines(const os::CgroupLines& lines);

}  // namespace kepler::cgroup
