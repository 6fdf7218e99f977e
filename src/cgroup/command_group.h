#pragma once
// CommandGroup: a cgroup for one command and everything that it starts, below the cgroup of this process. Its name is
// "kepler-run-ID", by which every agent on this machine lists it as the container ID of the runtime "kepler-run"
// (path_rules.cc). Blocks; any thread.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "cgroup/tree.h"

namespace kepler::cgroup {

/// Label value of the runtime of command groups.
inline constexpr std::string_view kCommandRuntime = "kepler-run";

/// Makes a name that people recognize and that no other group has: the file name of `program`, with anything but ASCII
/// letters, digits, '_' and '.' replaced by '_', then the `pid`.
[[nodiscard]] std::string CommandId(std::string_view program, int32_t pid);

class CommandGroup {
 public:
  /// Creates the group in the trees that account CPU time. Errors: kPermission if this user may not create cgroups
  /// here; kUnavailable if no tree is mounted.
  [[nodiscard]] static Result<CommandGroup> Create(const std::string& sysfs, const std::string& procfs,
                                                   std::string_view id);
  /// Moves what still runs to the cgroup above, and removes the group: agents list every group that exists.
  ~CommandGroup();
  CommandGroup(CommandGroup&& other) noexcept;
  CommandGroup& operator=(CommandGroup&&) = delete;

  /// Removes groups whose owner was killed, if no process and no cgroup is left in them and this user may. A group has
  /// an owner while its directory is locked, or while the process of its name lives.
  static void RemoveAbandoned(const std::string& sysfs, const std::string& procfs);

  /// Moves a process of one thread into the group. Its children start there.
  [[nodiscard]] Status Add(int32_t pid) const;
  /// Number of processes that run in the group; 0 if that cannot be read.
  [[nodiscard]] size_t processes() const;
  /// CPU time of all processes that were ever in the group, as the kernel has it; 0 if that cannot be read.
  [[nodiscard]] Nanoseconds usage() const;

 private:
  CommandGroup() = default;
  std::vector<std::string> directories_;  // in each tree
  std::vector<UniqueFd> locks_;           // of the directories, shared, while this object lives
  Version first_ = Version::kUnified;     // of the first directory
};

}  // namespace kepler::cgroup
