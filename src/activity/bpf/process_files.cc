#include "activity/bpf/process_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "os/procfs.h"

namespace kepler::activity::bpf {

Result<int> ProcessFiles::Directory() {
  if (!dir_.valid()) {
    KEPLER_TRY(dir_, os::OpenDir(procfs_));
  }
  return dir_.get();
}

std::string_view ProcessFiles::Exe(int32_t pid, BootTime now, bool kernel_reports) {
  const auto dir = Directory();
  if (!dir) {
    Count({ErrorKind::kUnavailable, dir.error().message}, "procfs", now);
    return {};
  }
  const auto target = os::ReadLinkAt(*dir, fmt::format("{}/exe", pid).c_str(), buffer_);
  if (target) return os::StripDeleted(*target);
  // Refused for lack of CAP_SYS_PTRACE, or hidden (hidepid): no failure, the kernel side reports it too.
  const bool hidden =
      target.error().kind == ErrorKind::kNotFound && ::faccessat(*dir, "1/stat", F_OK, 0) != 0 && errno == ENOENT;
  if (hidden || target.error().kind == ErrorKind::kPermission)
    exe_refused_ |= kernel_reports;
  else
    Count(target.error(), "exe", now);
  return {};
}

std::optional<os::CgroupLines> ProcessFiles::Cgroups(int32_t pid, BootTime now) {
  const auto dir = Directory();
  if (!dir) {
    Count({ErrorKind::kUnavailable, dir.error().message}, "procfs", now);
    return std::nullopt;
  }
  const auto text = os::ReadFileAt(*dir, fmt::format("{}/cgroup", pid).c_str(), buffer_);
  if (!text) {
    Count(text.error(), "cgroup", now);
    return std::nullopt;
  }
  auto lines = os::ParseCgroupLines(*text);
  if (!lines) {
    Count(lines.error(), "cgroup", now);
    return std::nullopt;
  }
  return *std::move(lines);
}

void ProcessFiles::Count(const Error& error, std::string_view file, BootTime now) {
  // Also what a zombie answers, and a kernel thread.
  if (error.kind == ErrorKind::kNotFound) {
    ++vanished_;
    return;
  }
  ++failed_;
  const auto verdict = limiter_.Ask(file, now);
  if (!verdict.pass) return;
  log::Info("a file of a process cannot be read, what it says is left empty",
            {{"err", error.message}, {"suppressed", std::to_string(verdict.suppressed)}});
}

}  // namespace kepler::activity::bpf
