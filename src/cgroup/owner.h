#pragma once
// Container and pod from cgroup paths: one table of rules for every runtime and cgroup driver. Pure.
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

/// Who owns a cgroup. A path is a claim: a user who may make a directory in a cgroup tree chooses its name. So an id
/// begins with the authority that made the claim, unless that is the machine: "uid1000/" for a user, "3e23e8160039/"
/// for a container (the first 12 digits of its id, or its name). Authorities add up from the outside in:
/// "uid1000/3e23e8160039/<id>". Plain ids have no '/', so two authorities never claim the same id. UIDs of pods
/// likewise.
struct Owner {
  std::optional<ContainerId> container;
  std::string pod_uid;   // "" outside Kubernetes; with dashes
  std::string_view qos;  // a literal: "guaranteed", "burstable", "besteffort", or ""
  bool operator==(const Owner&) const = default;
};

/// The id or UID as the path shows it, without its authority.
[[nodiscard]] std::string_view PlainId(std::string_view id);
/// The authority of an id or UID, with the '/' at its end; "" for the machine.
[[nodiscard]] std::string_view AuthorityOf(std::string_view id);

/// The runtimes whose ids are hex digits that nobody chooses. If two of them have the same id, one copied it. The ids
/// of the other runtimes are names that people choose.
[[nodiscard]] std::span<const std::string_view> RuntimesWithHexIds();

/// Who may make cgroups in a directory of a cgroup tree.
struct Directory {
  uint32_t uid = 0;
  bool shared = false;  // its group or everybody may, too
};

/// What is known about a cgroup tree, apart from its paths.
struct TreeView {
  uint32_t machine_uid = 0;   // owns the topmost directory
  std::string_view own_path;  // of this process; claims inside the containers on this path count as the machine's
  std::function<std::optional<Directory>(std::string_view path)> look_at = nullptr;  // nothing: not visible
};

/// The owner that one path names. The deepest container or pod wins, so a container inside a container is the inner
/// one, and a pod's own cgroup has a pod_uid and no container. Monitors (conmon, lxc.monitor) own nothing themselves:
/// what is above them does.
[[nodiscard]] Owner OwnerOfPath(std::string_view path);
/// The same, with the authority of each claim. Looks only at directories above a claim. A pod inside the container of
/// another pod is a part of the outer pod.
[[nodiscard]] Owner OwnerOfPath(std::string_view path, const TreeView& tree);

/// Index of the line that names the owner of a process: a line that names a container before one that names only a pod,
/// then the line whose match ends deepest; v2, then cpuacct first on ties. lines.size() where none names an owner.
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
