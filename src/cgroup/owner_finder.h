#pragma once
// OwnerFinder: finds the owners of cgroups from their paths and the owners of the directories above them. The finder
// reads these directories once for each cgroup with the name of a container or pod. Collection thread only.
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
  /// `own`, `own_pid`: cgroups and pid of this process. They are used to translate paths, and to detect the agent's own
  /// containers. For a cgroup outside the visible trees, only the path decides.
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
    std::string own_path;  // path of this process, translated by `paths`
    uint32_t machine_uid = 0;
  };

  [[nodiscard]] static Owner Judge(const Hierarchy& hierarchy, std::string_view path, PathsOf paths);
  const Hierarchy& HierarchyOf(std::string_view controllers);
  [[nodiscard]] Hierarchy Discover(std::string_view controllers) const;
  [[nodiscard]] std::optional<Tree> TreeOf(std::string_view controllers) const;

  Trees trees_;
  os::CgroupLines own_;
  int32_t own_pid_;
  std::vector<Hierarchy> hierarchies_;  // hierarchies with a claim
};

}  // namespace kepler::cgroup
