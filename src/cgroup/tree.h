#pragma once
// The cgroup trees that account CPU time, and how to read one cgroup of them.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "os/file.h"
#include "os/process_info.h"

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
};

/// Below `sysfs`/fs/cgroup; if neither is there, where `procfs`/self/mountinfo says. Finding none is no error.
[[nodiscard]] Trees FindTrees(const std::string& sysfs, const std::string& procfs);

/// Our own membership, from `procfs`/self/cgroup; no lines where it cannot be read.
[[nodiscard]] os::CgroupMembership ReadOwnMembership(const std::string& procfs);

/// cpu.stat → usage_usec.
[[nodiscard]] Result<Nanoseconds> ParseCpuStat(std::string_view text);
/// cpuacct.usage.
[[nodiscard]] Result<Nanoseconds> ParseCpuacctUsage(std::string_view text);

/// Time used by all tasks of the cgroup behind `dirfd` and of its descendants since it was made.
[[nodiscard]] Result<Nanoseconds> ReadUsage(int dirfd, Version version, os::ReadBuffer& buffer);

/// Whether the v2 cgroup behind `dirfd` is the root of the machine. Its cpu.stat follows the timer tick and is no sum
/// of its children. (cgroup.events exists everywhere but there.)
[[nodiscard]] bool IsUnifiedRoot(int dirfd);

/// Whether cgroup.procs of the cgroup behind `dirfd` lists `pid`.
[[nodiscard]] bool Holds(int dirfd, int32_t pid, os::ReadBuffer& buffer);

}  // namespace kepler::cgroup
