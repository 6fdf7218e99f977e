#pragma once
// OwnerFinder: the owners of the cgroups of this machine, by their paths and by the owners of the directories above
// them. It looks at these directories once for each cgroup that claims to be a container or pod. Collection thread
// only.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/owner.h"
#include "cgroup/tree.h"
#include "os/procfs.h"

namespace kepler::cgroup {

class OwnerFinder {
 public:
  /// `own`, `own_pid`: cgroups and pid of this process, to translate paths and to know the containers that it runs in.
  /// A cgroup that the trees do not show is judged by its path.
  OwnerFinder(Trees trees, os::CgroupLines own, int32_t own_pid);

  /// Owner of a process in these cgroups, with paths as in /proc/PID/cgroup.
  [[nodiscard]] Owner OfProcess(const os::CgroupLines& lines);
  /// Owner of a cgroup, with its path as in a walk of the tree.
  [[nodiscard]] Owner OfCgroup(Version version, std::string_view path);

 private:
  enum class PathsOf : uint8_t { kProcesses, kTrees };
  struct Hierarchy {
    std::string controllers;   // as in /proc/PID/cgroup
    std::optional<Tree> tree;  // nothing: not visible
    Paths paths;
    std::string own_path;  // of this process, as `paths` names it
    uint32_t machine_uid = 0;
  };

  [[nodiscard]] static Owner Judge(const Hierarchy& hierarchy, std::string_view path, PathsOf paths);
  const Hierarchy& HierarchyOf(std::string_view controllers);
  [[nodiscard]] Hierarchy Discover(std::string_view controllers) const;
  [[nodiscard]] std::optional<Tree> TreeOf(std::string_view controllers) const;

  Trees trees_;
  os::CgroupLines own_;
  int32_t own_pid_;
  std::vector<Hierarchy> hierarchies_;  // those with a claim
};

}  // namespace kepler::cgroup
