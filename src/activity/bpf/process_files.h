#pragma once
// ProcessFiles: what the kernel side does not say about a process and /proc does. One descriptor, whatever is read.
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

  /// The file it runs, without " (deleted)"; "" where it cannot be read. Valid until the next call.
  /// `kernel_reports`: what is refused here can be had from the kernel side.
  [[nodiscard]] std::string_view Exe(int32_t pid, BootTime now, bool kernel_reports = true);
  /// PID/cgroup; nothing where it cannot be read.
  [[nodiscard]] std::optional<os::CgroupLines> Cgroups(int32_t pid, BootTime now);

  /// Some exe belongs to another user and may not be read, or not even be seen: the kernel side has to report.
  [[nodiscard]] bool exe_refused() const { return exe_refused_; }
  [[nodiscard]] uint64_t vanished() const { return vanished_; }
  [[nodiscard]] uint64_t failed() const { return failed_; }

 private:
  [[nodiscard]] Result<std::string_view> ReadExe(int32_t pid);
  [[nodiscard]] Result<os::CgroupLines> ReadCgroups(int32_t pid);
  [[nodiscard]] Status Open();
  void Count(const Error& error, std::string_view file, BootTime now);

  std::string procfs_;
  UniqueFd dir_;
  ProcessReader reader_{ProcessReader::CpuSource::kClock};  // of files only
  bool exe_refused_ = false;
  uint64_t vanished_ = 0;
  uint64_t failed_ = 0;
  log::LogLimiter limiter_{std::chrono::hours(24)};
};

}  // namespace kepler::activity::bpf
