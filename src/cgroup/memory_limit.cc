#include "cgroup/memory_limit.h"

#include <algorithm>

#include "base/parse.h"
#include "base/small_file.h"
#include "cgroup/owner.h"
#include "cgroup/tree.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::cgroup {
namespace {

void Lower(std::optional<uint64_t>& limit, const std::optional<uint64_t>& other) {
  if (other) limit = std::min(limit.value_or(*other), *other);
}

/// Returns `path` relative to `root`, both as the process sees them: "" for `root` itself; nothing if `path` is
/// elsewhere.
std::optional<std::string> Below(std::string_view path, std::string_view root) {
  if (root == "/") root = "";
  if (path == "/") path = "";
  if (path.starts_with("/..") || !IsAtOrBelow(path, root)) return std::nullopt;
  return std::string(path.substr(root.size()));
}

/// Lowers `limit` to the limits of the cgroup `path` in a mounted hierarchy, and of the cgroups above it.
void LowerByTree(std::optional<uint64_t>& limit, const os::Mount& mount, std::string path, const char* file) {
  while (true) {
    if (const auto text = ReadSmallFile(mount.mount_point + path + "/" + file))
      Lower(limit, ParseMemoryLimit(*text).value_or(std::nullopt));
    if (path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

void LowerByMount(std::optional<uint64_t>& limit, const os::Mount& mount, const os::CgroupLines& own) {
  const bool unified = mount.type == "cgroup2";
  if (!unified && (mount.type != "cgroup" || !os::HasController(mount.super_options, "memory"))) return;
  for (const os::CgroupLine& line : own) {
    const bool is_its = unified ? line.hierarchy == 0 : os::HasController(line.controllers, "memory");
    if (!is_its) continue;
    if (auto path = Below(line.path, mount.root))
      LowerByTree(limit, mount, *std::move(path), unified ? "memory.max" : "memory.limit_in_bytes");
  }
}

}  // namespace

Result<std::optional<uint64_t>> ParseMemoryLimit(std::string_view text) {
  const std::string_view value = Trim(text);
  if (value == "max") return std::nullopt;
  if (const auto bytes = ParseNumber<uint64_t>(value)) return *bytes;
  return Fail(ErrorKind::kMalformed, "parse a memory limit: neither a number of bytes nor \"max\"");
}

std::optional<uint64_t> ReadMemoryLimit(const std::string& procfs) {
  std::optional<uint64_t> limit;
  if (const auto meminfo = ReadSmallFile(procfs + "/meminfo"))
    if (const auto kib = os::ParseMemTotal(*meminfo)) limit = *kib * 1024;
  const auto mounts = os::ReadWholeFile(procfs + "/self/mountinfo");
  if (!mounts) return limit;
  const os::CgroupLines own = ReadOwnLines(procfs);
  for (const os::Mount& mount : os::ParseMountInfo(*mounts)) LowerByMount(limit, mount, own);
  return limit;
}

}  // namespace kepler::cgroup
