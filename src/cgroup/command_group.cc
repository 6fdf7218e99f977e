#include "cgroup/command_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/parse.h"
#include "base/unique_fd.h"
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
  }
  if (group.directories_.empty())
    return Fail(ErrorKind::kUnavailable, "no cgroup tree of this process is mounted in " + sysfs + "/fs/cgroup");
  return group;
}

CommandGroup::CommandGroup(CommandGroup&& other) noexcept
    : directories_(std::exchange(other.directories_, {})), first_(other.first_) {}

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
