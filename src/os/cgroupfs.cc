#include "os/cgroupfs.h"

#include <unistd.h>

#include <limits>

#include "base/parse.h"
#include "os/mountinfo.h"
#include "os/procfs.h"

namespace kepler::os {
namespace {

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool IsUnified(const std::string& dir) { return Exists(dir + "/cgroup.controllers"); }
bool IsCpuacct(const std::string& dir) { return Exists(dir + "/cpuacct.usage"); }

CgroupTrees FindBelow(const std::string& base) {
  CgroupTrees trees;
  for (const char* name : {"", "/unified"}) {
    if (!trees.unified && IsUnified(base + name)) trees.unified = {CgroupVersion::kUnified, base + name};
  }
  // Which of the names is the directory and which the link differs between distributions.
  for (const char* name : {"/cpuacct", "/cpu,cpuacct", "/cpuacct,cpu"}) {
    if (!trees.cpuacct && IsCpuacct(base + name)) trees.cpuacct = {CgroupVersion::kCpuacct, base + name};
  }
  return trees;
}

CgroupTrees FindMounted(const std::string& procfs) {
  CgroupTrees trees;
  const auto text = ReadWholeFile(procfs + "/self/mountinfo");
  if (!text) return trees;
  for (const Mount& mount : ParseMountInfo(*text)) {
    if (!trees.unified && mount.type == "cgroup2" && IsUnified(mount.mount_point)) {
      trees.unified = {CgroupVersion::kUnified, mount.mount_point};
    }
    if (!trees.cpuacct && mount.type == "cgroup" && HasController(mount.super_options, "cpuacct") &&
        IsCpuacct(mount.mount_point)) {
      trees.cpuacct = {CgroupVersion::kCpuacct, mount.mount_point};
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

CgroupTrees FindCgroupTrees(const std::string& sysfs, const std::string& procfs) {
  CgroupTrees trees = FindBelow(sysfs + "/fs/cgroup");
  if (trees.cpuacct || trees.unified) return trees;
  return FindMounted(procfs);
}

CgroupMembership ReadOwnMembership(const std::string& procfs) {
  const auto text = ReadWholeFile(procfs + "/self/cgroup");
  if (!text) return {};
  return ParseCgroupMembership(*text).value_or(CgroupMembership{});
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

Result<Nanoseconds> ReadCgroupUsage(int dirfd, CgroupVersion version, ReadBuffer& buffer) {
  const bool unified = version == CgroupVersion::kUnified;
  KEPLER_TRY(const std::string_view text, ReadFileAt(dirfd, unified ? "cpu.stat" : "cpuacct.usage", buffer));
  return unified ? ParseCpuStat(text) : ParseCpuacctUsage(text);
}

bool IsUnifiedRoot(int dirfd) { return ::faccessat(dirfd, "cgroup.events", F_OK, 0) != 0; }

bool CgroupHolds(int dirfd, int32_t pid, ReadBuffer& buffer) {
  const auto text = ReadFileAt(dirfd, "cgroup.procs", buffer);
  if (!text) return false;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next()) {
    if (ParseNumber<int32_t>(*line) == pid) return true;
  }
  return false;
}

}  // namespace kepler::os
