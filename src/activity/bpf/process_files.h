#pragma once
// ProcessFiles: reads process details from /proc that the kernel side does not report. Uses one descriptor in total.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "activity/process_reader.h"
#include "base/log.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "os/procfs.h"

namespace kepler::activity::bpf {

class ProcessFiles {
 public:
  /// `procfs`: host.procfs, which must show the pids of the machine's first pid namespace.
  explicit ProcessFiles(std::string procfs) : procfs_(std::move(procfs)) {}

  /// Returns the executable's path without " (deleted)"; "" if it is unreadable. Valid until the next call.
  /// `kernel_reports`: the kernel side can supply a path that /proc refuses.
  [[nodiscard]] std::string_view Exe(int32_t pid, BootTime now, bool kernel_reports = true);
  /// Returns PID/cgroup; empty if the file is unreadable.
  [[nodiscard]] std::optional<os::CgroupLines> Cgroups(int32_t pid, BootTime now);

  /// True if the process is no longer in /proc. False if /proc may hide it from this process (hidepid).
  [[nodiscard]] bool HasLeft(int32_t pid);

  /// True if the exe of another user's process was unreadable or invisible. The kernel side must then report
  /// executables.
  [[nodiscard]] bool exe_refused() const { return exe_refused_; }
  [[nodiscard]] uint64_t vanished() const { return vanished_; }
  [[nodiscard]] uint64_t failed() const { return failed_; }

 private:
  [[nodiscard]] Result<std::string_view> ReadExe(int32_t pid);
  [[nodiscard]] Result<os::CgroupLines> ReadCgroups(int32_t pid);
  [[nodiscard]] Status Open();
  [[nodiscard]] bool HidesProcesses() const;
  void Count(const Error& error, std::string_view file, BootTime now);

  std::string procfs_;
  UniqueFd dir_;
  ProcessReader reader_{ProcessReader::CpuSource::kClock};  // reads files only
  bool exe_refused_ = false;
  uint64_t vanished_ = 0;
  uint64_t failed_ = 0;
  log::LogLimiter limiter_{std::chrono::hours(24)};
};

}  // namespace kepler::activity::bpf
