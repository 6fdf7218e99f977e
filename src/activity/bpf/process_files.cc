#include "activity/bpf/process_files.h"

#include <unistd.h>

#include <cerrno>

#include "os/file.h"

namespace kepler::activity::bpf {

Status ProcessFiles::Open() {
  if (dir_.valid()) return {};
  auto dir = os::OpenDir(procfs_);
  if (!dir) return Fail(ErrorKind::kUnavailable, dir.error().message);
  dir_ = *std::move(dir);
  reader_.SetDirectory(dir_.get());
  return {};
}

Result<std::string_view> ProcessFiles::ReadExe(int32_t pid) {
  KEPLER_CHECK_OK(Open());
  return reader_.Exe(pid);
}

Result<os::CgroupLines> ProcessFiles::ReadCgroups(int32_t pid) {
  KEPLER_CHECK_OK(Open());
  return reader_.CgroupLines(pid);
}

/// True if /proc does not show the process 1 (hidepid without CAP_SYS_PTRACE).
bool ProcessFiles::HidesProcesses() const { return ::faccessat(dir_.get(), "1/stat", F_OK, 0) != 0 && errno == ENOENT; }

bool ProcessFiles::HasLeft(int32_t pid) {
  if (!Open()) return false;
  const std::string name = std::to_string(pid);
  return ::faccessat(dir_.get(), name.c_str(), F_OK, 0) != 0 && errno == ENOENT && !HidesProcesses();
}

std::string_view ProcessFiles::Exe(int32_t pid, BootTime now, bool kernel_reports) {
  const auto exe = ReadExe(pid);
  if (exe) return *exe;
  // Refused for lack of CAP_SYS_PTRACE, or hidden (hidepid). The refusal is not a failure: the kernel side reports the
  // exe too.
  const ErrorKind kind = exe.error().kind;
  const bool hidden = kind == ErrorKind::kNotFound && HidesProcesses();
  if (hidden || kind == ErrorKind::kPermission)
    exe_refused_ |= kernel_reports;
  else
    Count(exe.error(), "exe", now);
  return {};
}

std::optional<os::CgroupLines> ProcessFiles::Cgroups(int32_t pid, BootTime now) {
  auto lines = ReadCgroups(pid);
  if (lines) return *std::move(lines);
  Count(lines.error(), "cgroup", now);
  return std::nullopt;
}

void ProcessFiles::Count(const Error& error, std::string_view file, BootTime now) {
  // A zombie and a kernel thread return the same error.
  if (error.kind == ErrorKind::kNotFound) {
    ++vanished_;
    return;
  }
  ++failed_;
  limiter_.Say(log::Level::kInfo, error.kind == ErrorKind::kUnavailable ? "procfs" : file, now,
               "failed to read a file of a process; its labels stay empty", {{"err", error.message}});
}

}  // namespace kepler::activity::bpf
