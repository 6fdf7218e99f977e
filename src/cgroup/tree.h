#pragma once
// Finds the cgroup trees that account CPU time, and reads one cgroup of a tree.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::cgroup {

enum class Version : uint8_t {
  kCpuacct,  // v1 hierarchy with the cpuacct controller: cpuacct.usage in nanoseconds
  kUnified   // v2: usage_usec of cpu.stat, present and exact in every cgroup except the root
};

struct Tree {
  Version version = Version::kUnified;
  std::string path;  // directory of the topmost visible cgroup
};

/// In hybrid mode both trees exist, and both count the same time.
struct Trees {
  std::optional<Tree> cpuacct;
  std::optional<Tree> unified;
  std::string v1_dir{};  // directory with the mount points of v1 hierarchies; "" without v1
};

/// Searches `sysfs`/fs/cgroup, then the mounts in `procfs`/self/mountinfo. No tree is not an error.
[[nodiscard]] Trees FindTrees(const std::string& sysfs, const std::string& procfs);

/// Returns the cgroups of this process from `procfs`/self/cgroup; empty if the file is unreadable.
[[nodiscard]] os::CgroupLines ReadOwnLines(const std::string& procfs);

/// cpu.stat → usage_usec.
[[nodiscard]] Result<Nanoseconds> ParseCpuStat(std::string_view text);
/// cpuacct.usage.
[[nodiscard]] Result<Nanoseconds> ParseCpuacctUsage(std::string_view text);

/// Returns the CPU time of all tasks in the cgroup behind `dirfd` and in its descendants, since its creation.
[[nodiscard]] Result<Nanoseconds> ReadUsage(int dirfd, Version version, os::ReadBuffer& buffer);

/// Returns true if the v2 cgroup behind `dirfd` is the root of the machine. The root's cpu.stat follows the timer tick
/// and is not the sum of its children. (Every other cgroup has cgroup.events.)
[[nodiscard]] bool IsUnifiedRoot(int dirfd);

/// Calls visit(path, dirfd) for the topmost cgroup with path "", and for each cgroup below it, parents first. The walk
/// ends when `visit` returns false. Cgroups removed during the walk are left out. Returns false if the topmost cgroup
/// cannot be opened.
bool Walk(const Tree& tree, const std::function<bool(const std::string&, int)>& visit);

/// Returns true if cgroup.procs of the cgroup behind `dirfd` lists `pid`.
[[nodiscard]] bool Holds(int dirfd, int32_t pid, os::ReadBuffer& buffer);

/// Gives every cgroup of `tree` one name: the absolute path in the tree, after `prefix()`. The prefix is needed if the
/// processes see cgroups above the top of the tree.
class Paths {
 public:
  /// Compares the position of `own_pid` in the tree with `own_path`, its line in <procfs>/self/cgroup ("" if there is
  /// no line). Reads cgroup.procs. Searches the whole tree only if the plain interpretation is wrong.
  static Paths Discover(const Tree& tree, std::string_view own_path, int32_t own_pid);

  /// Returns the name of the cgroup with this `path`; nothing if the path is outside the tree.
  [[nodiscard]] std::optional<std::string> NameOf(std::string_view path) const;
  [[nodiscard]] const std::string& prefix() const { return prefix_; }
  /// The root of this process' cgroup namespace in the tree; "" if both roots are the same.
  [[nodiscard]] const std::string& namespace_root() const { return namespace_root_; }
  /// False if the tree contains cgroups that the paths cannot name; time would then be booked twice.
  [[nodiscard]] bool reliable() const { return reliable_; }

 private:
  std::string namespace_root_;
  std::string prefix_;
  bool reliable_ = true;
};

}  // namespace kepler::cgroup
