#pragma once
// The cgroup trees that account CPU time, and how to read one cgroup of them.
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
  kUnified   // v2: usage_usec of cpu.stat, present and exact in every cgroup but the root
};

struct Tree {
  Version version = Version::kUnified;
  std::string path;  // directory of its topmost visible cgroup
};

/// Both may be there (hybrid); then they count the same time twice.
struct Trees {
  std::optional<Tree> cpuacct;
  std::optional<Tree> unified;
  std::string v1_dir{};  // directory with the mount points of v1 hierarchies; "" without v1
};

/// Below `sysfs`/fs/cgroup; if neither is there, where `procfs`/self/mountinfo says. Finding none is no error.
[[nodiscard]] Trees FindTrees(const std::string& sysfs, const std::string& procfs);

/// Our own cgroups, from `procfs`/self/cgroup; none where it cannot be read.
[[nodiscard]] os::CgroupLines ReadOwnLines(const std::string& procfs);

/// cpu.stat → usage_usec.
[[nodiscard]] Result<Nanoseconds> ParseCpuStat(std::string_view text);
/// cpuacct.usage.
[[nodiscard]] Result<Nanoseconds> ParseCpuacctUsage(std::string_view text);

/// Time used by all tasks of the cgroup behind `dirfd` and of its descendants since it was made.
[[nodiscard]] Result<Nanoseconds> ReadUsage(int dirfd, Version version, os::ReadBuffer& buffer);

/// Whether the v2 cgroup behind `dirfd` is the root of the machine. Its cpu.stat follows the timer tick and is no sum
/// of its children. (cgroup.events exists everywhere but there.)
[[nodiscard]] bool IsUnifiedRoot(int dirfd);

/// Calls visit(path, dirfd) for the topmost cgroup, whose path is "", and for all below it, each before its children,
/// until one answers false. What vanishes meanwhile is left out. False: the topmost cannot be opened.
bool Walk(const Tree& tree, const std::function<bool(const std::string&, int)>& visit);

/// Whether cgroup.procs of the cgroup behind `dirfd` lists `pid`.
[[nodiscard]] bool Holds(int dirfd, int32_t pid, os::ReadBuffer& buffer);

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
