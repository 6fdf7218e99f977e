#include "cgroup/tree.h"

#include <unistd.h>

#include <limits>

#include "base/parse.h"
#include "os/mountinfo.h"
#include "os/procfs.h"

namespace kepler::cgroup {
namespace {

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool IsUnified(const std::string& dir) { return Exists(dir + "/cgroup.controllers"); }
bool IsCpuacct(const std::string& dir) { return Exists(dir + "/cpuacct.usage"); }

Trees FindBelow(const std::string& base) {
  Trees trees;
  for (const char* name : {"", "/unified"}) {
    if (!trees.unified && IsUnified(base + name)) trees.unified = {Version::kUnified, base + name};
  }
  // Which of the names is the directory and which the link differs between distributions.
  for (const char* name : {"/cpuacct", "/cpu,cpuacct", "/cpuacct,cpu"}) {
    if (!trees.cpuacct && IsCpuacct(base + name)) trees.cpuacct = {Version::kCpuacct, base + name};
  }
  return trees;
}

Trees FindMounted(const std::string& procfs) {
  Trees trees;
  const auto text = os::ReadWholeFile(procfs + "/self/mountinfo");
  if (!text) return trees;
  for (const os::Mount& mount : os::ParseMountInfo(*text)) {
    if (!trees.unified && mount.type == "cgroup2" && IsUnified(mount.mount_point)) {
      trees.unified = {Version::kUnified, mount.mount_point};
    }
    if (!trees.cpuacct && mount.type == "cgroup" && os::HasController(mount.super_options, "cpuacct") &&
        IsCpuacct(mount.mount_point)) {
      trees.cpuacct = {Version::kCpuacct, mount.mount_point};
    }
  }
  return trees;
}

Result<Nanoseconds> ParseScaled(std::string_view text, int64_t scale, std::string_view what) {
  const auto number = ParseNumber<int64_t>(Trim(text));
  if (!number || *number < 0 || *number > std::numeric_limits<int64_t>::max() / scale) {
    return Fail(ErrorKind::kMalformed, "parse " + std::string(what) + ": no amount of time");
  }
  return Nanoseconds(*number * scale);
}

}  // namespace

Trees FindTrees(const std::string& sysfs, const std::string& procfs) {
  Trees trees = FindBelow(sysfs + "/fs/cgroup");
  if (trees.cpuacct || trees.unified) return trees;
  return FindMounted(procfs);
}

os::CgroupMembership ReadOwnMembership(const std::string& procfs) {
  const auto text = os::ReadWholeFile(procfs + "/self/cgroup");
  if (!text) return {};
  return os::ParseCgroupMembership(*text).value_or(os::CgroupMembership{});
}

Result<Nanoseconds> ParseCpuStat(std::string_view text) {
  constexpr std::string_view kKey = "usage_usec ";
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    if (line->starts_with(kKey)) return ParseScaled(line->substr(kKey.size()), 1000, "cpu.stat usage_usec");
  }
  return Fail(ErrorKind::kMalformed, "parse cpu.stat: no usage_usec");
}

Result<Nanoseconds> ParseCpuacctUsage(std::string_view text) { return ParseScaled(text, 1, "cpuacct.usage"); }

Result<Nanoseconds> ReadUsage(int dirfd, Version version, os::ReadBuffer& buffer) {
  const bool unified = version == Version::kUnified;
  KEPLER_TRY(const std::string_view text, os::ReadFileAt(dirfd, unified ? "cpu.stat" : "cpuacct.usage", buffer));
  return unified ? ParseCpuStat(text) : ParseCpuacctUsage(text);
}

bool IsUnifiedRoot(int dirfd) { return ::faccessat(dirfd, "cgroup.events", F_OK, 0) != 0; }

bool Holds(int dirfd, int32_t pid, os::ReadBuffer& buffer) {
  const auto text = os::ReadFileAt(dirfd, "cgroup.procs", buffer);
  if (!text) return false;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next()) {
    if (ParseNumber<int32_t>(*line) == pid) return true;
  }
  return false;
}

}  // namespace kepler::cgroup
