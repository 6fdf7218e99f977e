#include "cgroup/command_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/parse.h"
#include "cgroup/tree.h"
#include "os/file.h"

namespace kepler::cgroup {
namespace {

/// Returns the directory of this process in `tree`; "" if it is not in the tree.
std::string OwnDirectory(const Tree& tree, const os::CgroupLines& lines) {
  const auto line = std::ranges::find_if(lines, [&](const os::CgroupLine& candidate) {
    return tree.version == Version::kUnified ? candidate.hierarchy == 0
                                             : os::HasController(candidate.controllers, "cpuacct");
  });
  if (line == lines.end()) return {};
  const Paths paths = Paths::Discover(tree, line->path, ::getpid());
  if (!paths.reliable() || !line->path.starts_with(paths.prefix())) return {};
  const std::string own = line->path == "/" ? std::string() : line->path.substr(paths.prefix().size());
  return tree.path + paths.namespace_root() + own;
}

Status WriteTo(const std::string& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return FailErrno("open", path);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return FailErrno("write", path);
  return {};
}

/// Moves the processes of the cgroup `path` to the one above. Those that end meanwhile are skipped.
void MoveUp(const std::string& path) {
  os::ReadBuffer buffer;
  const auto text = os::ReadFileAt(AT_FDCWD, (path + "/cgroup.procs").c_str(), buffer);
  if (!text) return;
  const std::string above = path.substr(0, path.rfind('/')) + "/cgroup.procs";
  Splitter pids(*text, '\n');
  while (const auto pid = pids.Next())
    if (!pid->empty()) static_cast<void>(WriteTo(above, *pid));
}

UniqueFd OpenDirectory(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// Whether the cgroup `path` is a command's. Its name ends with the pid of the command.
bool IsCommandGroup(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with(fmt::format("{}-", kCommandRuntime));
}

/// Removes the cgroup `path` of a command unless it is in use.
void RemoveIfAbandoned(const std::string& path, const std::string& procfs) {
  const auto pid = ParseNumber<int32_t>(std::string_view(path).substr(path.rfind('-') + 1));
  if (!pid || ::access(fmt::format("{}/{}", procfs, *pid).c_str(), F_OK) == 0) return;
  const UniqueFd directory = OpenDirectory(path);
  if (!directory.valid() || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return;
  ::rmdir(path.c_str());  // fails if anything is in it
}

}  // namespace

std::string CommandId(std::string_view program, int32_t pid) {
  std::string name(program.substr(program.rfind('/') + 1).substr(0, 100));
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
    if (!plain) c = '_';
  }
  return fmt::format("{}-{}", name, pid);
}

Result<CommandGroup> CommandGroup::Create(const std::string& sysfs, const std::string& procfs, std::string_view id) {
  const Trees trees = FindTrees(sysfs, procfs);
  const os::CgroupLines lines = ReadOwnLines(procfs);
  CommandGroup group;
  for (const auto& tree : {trees.unified, trees.cpuacct}) {
    if (!tree) continue;
    const std::string own = OwnDirectory(*tree, lines);
    if (own.empty()) continue;
    const std::string path = fmt::format("{}/{}-{}", own, kCommandRuntime, id);
    if (::mkdir(path.c_str(), 0755) != 0) return FailErrno("create cgroup", path);
    if (group.directories_.empty()) group.first_ = tree->version;
    group.directories_.push_back(path);
    // A group without a lock is abandoned only if the process of its name is gone too, so a failure does no harm.
    group.locks_.push_back(OpenDirectory(path));
    static_cast<void>(::flock(group.locks_.back().get(), LOCK_SH | LOCK_NB));
  }
  if (group.directories_.empty())
    return Fail(ErrorKind::kUnavailable, "no cgroup tree of this process is mounted in " + sysfs + "/fs/cgroup");
  return group;
}

void CommandGroup::RemoveAbandoned(const std::string& sysfs, const std::string& procfs) {
  const Trees trees = FindTrees(sysfs, procfs);
  for (const auto& tree : {trees.unified, trees.cpuacct}) {
    if (!tree) continue;
    std::vector<std::string> found;
    Walk(*tree, [&](const std::string& path, int) {
      if (IsCommandGroup(path)) found.push_back(tree->path + path);
      return true;
    });
    for (const std::string& path : found) RemoveIfAbandoned(path, procfs);
  }
}

CommandGroup::CommandGroup(CommandGroup&& other) noexcept
    : directories_(std::exchange(other.directories_, {})), locks_(std::move(other.locks_)), first_(other.first_) {}

CommandGroup::~CommandGroup() {
  // Processes may start others meanwhile, and the kernel needs a moment for those that end.
  constexpr int kAttempts = 200;
  constexpr std::chrono::milliseconds kPause{1};
  for (const std::string& path : directories_) {
    for (int attempt = 0; attempt < kAttempts && ::rmdir(path.c_str()) != 0 && errno == EBUSY; ++attempt) {
      MoveUp(path);
      std::this_thread::sleep_for(kPause);
    }
  }
}

Status CommandGroup::Add(int32_t pid) const {
  for (const std::string& path : directories_) KEPLER_CHECK_OK(WriteTo(path + "/cgroup.procs", std::to_string(pid)));
  return {};
}

size_t CommandGroup::processes() const {
  os::ReadBuffer buffer;
  const auto text = os::ReadFileAt(AT_FDCWD, (directories_.front() + "/cgroup.procs").c_str(), buffer);
  return text ? static_cast<size_t>(std::ranges::count(*text, '\n')) : 0;
}

Nanoseconds CommandGroup::usage() const {
  os::ReadBuffer buffer;
  const auto directory = os::OpenDir(directories_.front());
  if (!directory) return Nanoseconds(0);
  return ReadUsage(directory->get(), first_, buffer).value_or(Nanoseconds(0));
}

}  // namespace kepler::cgroup
