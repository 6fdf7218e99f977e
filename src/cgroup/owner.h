#pragma once
// Container and pod from cgroup paths: one table of rules for every runtime and cgroup driver. Pure.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "os/procfs.h"

namespace kepler::cgroup {

/// Who owns a cgroup, by its path alone.
struct Owner {
  std::optional<ContainerId> container;
  std::string pod_uid;   // "" outside Kubernetes; with dashes
  std::string_view qos;  // a literal: "guaranteed", "burstable", "besteffort", or ""
  bool operator==(const Owner&) const = default;
};

/// The owner that one path names. The deepest container or pod wins, so a container inside a container is the inner
/// one, and a pod's own cgroup has a pod_uid and no container. Monitors (conmon, lxc.monitor) own nothing themselves:
/// what is above them does.
[[nodiscard]] Owner OwnerOfPath(std::string_view path);

/// The owner that the lines of a process name together: a line that names a container before one that names only a
/// pod, then the line whose match ends deepest; v2, then cpuacct first on ties.
[[nodiscard]] Owner OwnerOfLines(const os::CgroupLines& lines);

/// Index of the line on which the process' CPU time is accounted: a cpuacct line that names the same owner, else the
/// line that named it; lines.size() where none names a container or pod.
[[nodiscard]] size_t AccountingLine(const os::CgroupLines& lines);

/// The part of a process' path that neither it nor its user can have made: as far as the outermost container, the unit
/// of systemd (NAME.service, NAME.scope) or the slice of a login's user; "" where there is none of them.
[[nodiscard]] std::string_view UnitOfPath(std::string_view path);
/// Of the hierarchy that systemd keeps, else of the first that has one.
[[nodiscard]] std::string_view UnitOfLines(const os::CgroupLines& lines);

}  // namespace kepler::cgroup
