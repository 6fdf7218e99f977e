#pragma once
// How a path of /proc/PID/cgroup names a directory of a cgroup tree. They differ if this process lives in a cgroup
// namespace of its own ("/.." is what lies outside of it) or sees only a part of the tree.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cgroup/tree.h"

namespace kepler::cgroup {

/// Every cgroup of `tree` has one name here: the absolute path in the tree, behind `prefix()` where the tree's top is
/// not the top of what the processes see.
class Paths {
 public:
  /// Finds out from where `own_pid` is in the tree and what `own_path` (its line in <procfs>/self/cgroup; "" if there
  /// is none) says about it. Reads cgroup.procs; searches the whole tree only if the plain reading is wrong.
  static Paths Discover(const Tree& tree, std::string_view own_path, int32_t own_pid);

  /// The name of the cgroup that `path` means; nothing if it lies outside of the tree.
  [[nodiscard]] std::optional<std::string> NameOf(std::string_view path) const;
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  /// The root of our namespace within the tree; "" where both are the same.
  [[nodiscard]] const std::string& namespace_root() const { return namespace_root_; }
  /// False: the tree holds other cgroups than the paths can name, so time would be booked twice.
  [[nodiscard]] bool reliable() const { return reliable_; }

 private:
  std::string namespace_root_;
  std::string prefix_;
  bool reliable_ = true;
};

}  // namespace kepler::cgroup
