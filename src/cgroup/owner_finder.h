#pragma once
// OwnerFinder: whose the cgroups of this machine are, by their paths and by who owns the directories on them. It looks
// at a few directories when a cgroup is first seen that claims to be a container or pod, and at nothing otherwise.
// Collection thread only.
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
  /// `own`, `own_pid`: of this process, for Paths and to know in which containers it is itself. What the trees do not
  /// show is judged by its path alone.
  OwnerFinder(Trees trees, os::CgroupLines own, int32_t own_pid);

  /// Of a process in these cgroups, as /proc/PID/cgroup shows them to this process.
  [[nodiscard]] Owner OfProcess(const os::CgroupLines& lines);
  /// Of a cgroup in the tree of this version, by its path from a walk.
  [[nodiscard]] Owner OfCgroup(Version version, std::string_view path);

 private:
  enum class PathsOf : uint8_t { kProcesses, kTrees };
  struct Hierarchy {
    std::string controllers;   // as its line in /proc/PID/cgroup names it
    std::optional<Tree> tree;  // nothing: it is not to be seen
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
  std::vector<Hierarchy> hierarchies_;  // those in which anything was claimed
};

}  // namespace kepler::cgroup
