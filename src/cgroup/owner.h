#pragma once
// Container and pod from cgroup paths: one table of rules for every runtime and cgroup driver. Pure.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "os/procfs.h"

namespace kepler::cgroup {

/// Who owns a cgroup. A path is a claim: whoever may make a directory in a cgroup tree chooses its name. So ids and
/// UIDs of claims that the machine did not make itself begin with who made them, "uid1000/" for a user and the first 12
/// digits of its id (or its name) for a container, from the outside in: "uid1000/3e23e8160039/<id>". No plain id has a
/// '/', so such a claim never equals one of somebody else.
struct Owner {
  std::optional<ContainerId> container;
  std::string pod_uid;   // "" outside Kubernetes; with dashes
  std::string_view qos;  // a literal: "guaranteed", "burstable", "besteffort", or ""
  bool operator==(const Owner&) const = default;
};

/// The id or UID as the path shows it, without who claimed it.
[[nodiscard]] std::string_view PlainId(std::string_view id);
/// Who claimed it, with the '/' at the end; "" for the machine itself.
[[nodiscard]] std::string_view AuthorityOf(std::string_view id);

/// A directory of a cgroup tree: whose name is below it.
struct Directory {
  uint32_t uid = 0;
  bool shared = false;  // its group, or everybody, may make cgroups in it too
};

/// What is known of one cgroup tree besides its paths.
struct TreeView {
  uint32_t machine_uid = 0;   // owns the topmost directory
  std::string_view own_path;  // of this process: in a container that it is in itself, the machine makes the claims
  std::function<std::optional<Directory>(std::string_view path)> look_at = nullptr;  // nothing: it is not to be seen
};

/// The owner that one path names. The deepest container or pod wins, so a container inside a container is the inner
/// one, and a pod's own cgroup has a pod_uid and no container. Monitors (conmon, lxc.monitor) own nothing themselves:
/// what is above them does.
[[nodiscard]] Owner OwnerOfPath(std::string_view path);
/// The same by who could make each directory. Looks at those above a claim only, and at none where nothing is claimed.
/// A pod inside a container of another pod is a part of that pod.
[[nodiscard]] Owner OwnerOfPath(std::string_view path, const TreeView& tree);

/// The owner that the lines of a process name together: a line that names a container before one that names only a
/// pod, then the line whose match ends deepest; v2, then cpuacct first on ties.
[[nodiscard]] Owner OwnerOfLines(const os::CgroupLines& lines);
/// Index of that line; lines.size() where none names a container or pod.
[[nodiscard]] size_t NamingLine(const os::CgroupLines& lines);

/// Index of the line on which the process' CPU time is accounted: a cpuacct line that names the same owner, else the
/// line that named it; lines.size() where there is none.
[[nodiscard]] size_t AccountingLine(const os::CgroupLines& lines);

/// The part of a process' path that neither it nor its user can have made: as far as the outermost container, the unit
/// of systemd (NAME.service, NAME.scope) or the slice of a login's user; "" where there is none of them.
[[nodiscard]] std::string_view UnitOfPath(std::string_view path);
/// Of the hierarchy that systemd keeps, else of the first that has one.
[[nodiscard]] std::string_view UnitOfLines(const os::CgroupLines& lines);

}  // namespace kepler::cgroup
