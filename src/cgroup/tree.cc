#include "cgroup/tree.h"

#include <unistd.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "cgroup/owner.h"
#include "os/dirents.h"
#include "os/procfs.h"

namespace kepler::cgroup {

namespace {

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool IsUnified(const std::string& dir) { return Exists(dir + "/cgroup.controllers"); }
bool IsCpuacct(const std::string& dir) { return Exists(dir + "/cpuacct.usage"); }

Trees FindBelow(const std::string& base) {
  Trees trees;
  for (const char* name : {"", "/unified"})
    if (!trees.unified && IsUnified(base + name)) trees.unified = {Version::kUnified, base + name};
  // Distributions differ in which name is the directory and which is the link.
  for (const char* name : {"/cpuacct", "/cpu,cpuacct", "/cpuacct,cpu"})
    if (!trees.cpuacct && IsCpuacct(base + name)) trees.cpuacct = {Version::kCpuacct, base + name};
  if (!IsUnified(base)) trees.v1_dir = base;
  return trees;
}

Trees FindMounted(const std::string& procfs) {
  Trees trees;
  const auto text = os::ReadWholeFile(procfs + "/self/mountinfo");
  if (!text) return trees;
  for (const os::Mount& mount : os::ParseMountInfo(*text)) {
    if (!trees.unified && mount.type == "cgroup2" && IsUnified(mount.mount_point))
      trees.unified = {Version::kUnified, mount.mount_point};
    if (!trees.cpuacct && mount.type == "cgroup" && os::HasController(mount.super_options, "cpuacct") &&
        IsCpuacct(mount.mount_point)) {
      trees.cpuacct = {Version::kCpuacct, mount.mount_point};
    }
    if (trees.v1_dir.empty() && mount.type == "cgroup")
      trees.v1_dir = mount.mount_point.substr(0, mount.mount_point.rfind('/'));
  }
  return trees;
}

Result<Nanoseconds> ParseScaled(std::string_view text, int64_t scale, std::string_view what) {
  const auto number = ParseNumber<int64_t>(Trim(text));
  if (!number || *number < 0 || *number > std::numeric_limits<int64_t>::max() / scale)
    return Fail(ErrorKind::kMalformed, "parse " + std::string(what) + ": not a duration");
  return Nanoseconds(*number * scale);
}

}  // namespace

Trees FindTrees(const std::string& sysfs, const std::string& procfs) {
  Trees trees = FindBelow(sysfs + "/fs/cgroup");
  if (trees.cpuacct || trees.unified) return trees;
  return FindMounted(procfs);
}

os::CgroupLines ReadOwnLines(const std::string& procfs) {
  const auto text = os::ReadWholeFile(procfs + "/self/cgroup");
  if (!text) return {};
  return os::ParseCgroupLines(*text).value_or(os::CgroupLines{});
}

Result<Nanoseconds> ParseCpuStat(std::string_view text) {
  if (const auto usage = os::ValueOf("usage_usec ", text)) return ParseScaled(*usage, 1000, "cpu.stat usage_usec");
  return Fail(ErrorKind::kMalformed, "parse cpu.stat: no usage_usec");
}

Result<Nanoseconds> ParseCpuacctUsage(std::string_view text) { return ParseScaled(text, 1, "cpuacct.usage"); }

Result<Nanoseconds> ReadUsage(int dirfd, Version version, os::ReadBuffer& buffer) {
  const bool unified = version == Version::kUnified;
  KEPLER_TRY(const std::string_view text, os::ReadFileAt(dirfd, unified ? "cpu.stat" : "cpuacct.usage", buffer));
  return unified ? ParseCpuStat(text) : ParseCpuacctUsage(text);
}

bool IsUnifiedRoot(int dirfd) { return ::faccessat(dirfd, "cgroup.events", F_OK, 0) != 0; }

bool Walk(const Tree& tree, const std::function<bool(const std::string&, int)>& visit) {
  const auto top = os::OpenDir(tree.path);
  if (!top) return false;
  os::DirReader reader;
  std::vector<std::string> open{""};
  while (!open.empty()) {
    const std::string path = std::move(open.back());
    open.pop_back();
    const auto dir = os::OpenDirAt(top->get(), path.empty() ? "." : path.c_str() + 1);
    if (!dir) continue;
    if (!visit(path, dir->get())) break;
    static_cast<void>(reader.ForEach(dir->get(), path, [&](const os::DirEntry& entry) {
      if (entry.is_dir) open.push_back(path + "/" + std::string(entry.name));
    }));
  }
  return true;
}

bool Holds(int dirfd, int32_t pid, os::ReadBuffer& buffer) {
  const auto text = os::ReadFileAt(dirfd, "cgroup.procs", buffer);
  if (!text) return false;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next())
    if (ParseNumber<int32_t>(*line) == pid) return true;
  return false;
}

namespace {

/// Resolves "." and ".."; nothing if it climbs above the top. "" stands for "/".
std::optional<std::string> Normalise(std::string_view path) {
  std::string plain;
  Splitter parts(path, '/');
  while (const auto part = parts.Next()) {
    if (part->empty() || *part == ".") continue;
    if (*part != "..") {
      plain += '/';
      plain += *part;
    } else if (plain.empty()) {
      return std::nullopt;
    } else {
      plain.resize(plain.rfind('/'));
    }
  }
  return plain;
}

std::string_view WithoutSlash(std::string_view path) { return path == "/" ? std::string_view() : path; }

bool PathHolds(const std::string& dir, int32_t pid, os::ReadBuffer& buffer) {
  const auto fd = os::OpenDir(dir);
  return fd && Holds(fd->get(), pid, buffer);
}

/// Returns the path in `tree` of the cgroup that contains `pid`.
std::optional<std::string> FindHolder(const Tree& tree, int32_t pid) {
  os::ReadBuffer buffer;
  std::optional<std::string> holder;
  Walk(tree, [&](const std::string& path, int dir) {
    if (Holds(dir, pid, buffer)) holder = path;
    return !holder;
  });
  return holder;
}

}  // namespace

Paths Paths::Discover(const Tree& tree, std::string_view own_path, int32_t own_pid) {
  Paths paths;
  if (own_path.empty()) return paths;
  const std::string_view own = WithoutSlash(own_path);
  os::ReadBuffer buffer;
  if (PathHolds(tree.path + std::string(own), own_pid, buffer)) return paths;
  const auto found = FindHolder(tree, own_pid);
  if (found && found->ends_with(own))
    paths.namespace_root_ = found->substr(0, found->size() - own.size());
  else if (found && own.ends_with(*found))
    paths.prefix_ = own.substr(0, own.size() - found->size());
  else
    paths.reliable_ = false;
  return paths;
}

std::optional<std::string> Paths::NameOf(std::string_view path) const {
  auto name = Normalise(namespace_root_ + std::string(path));
  if (!name) return std::nullopt;
  if (!IsAtOrBelow(*name, prefix_)) return std::nullopt;
  if (name->empty()) name = "/";
  return name;
}

}  // namespace kepler::cgroup
