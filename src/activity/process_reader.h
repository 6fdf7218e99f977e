#pragma once
// ProcessReader: what one process used and is, read from <procfs> with no descriptor kept per process.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "os/file.h"
#include "os/procfs.h"

namespace kepler::activity {

class ProcessReader {
 public:
  enum class CpuSource : uint8_t {
    kClock,  // the CPU clock of the process: to the nanosecond, one system call, no privilege
    kStat    // utime + stime: clock ticks, three system calls
  };

  /// The CPU clock names a process by its pid in our own namespace. It is right only where `procfs` uses the same pids:
  /// elsewhere it silently reads somebody else's time.
  [[nodiscard]] static CpuSource SourceFor(const std::string& procfs);

  explicit ProcessReader(CpuSource source) : source_(source) {}

  /// `procfs_fd` stays the caller's.
  void SetDirectory(int procfs_fd) { dir_ = procfs_fd; }
  [[nodiscard]] CpuSource source() const { return source_; }

  // Each view is valid until the next call of the same function.
  [[nodiscard]] Result<os::ProcessStat> Stat(int32_t pid);
  [[nodiscard]] Result<std::string_view> Exe(int32_t pid);  // without " (deleted)"
  [[nodiscard]] Result<std::string_view> Cgroup(int32_t pid);
  [[nodiscard]] Result<os::CgroupLines> CgroupLines(int32_t pid);

  /// CPU time since its start of all threads, dead ones included. Nothing: there is no such process any more.
  [[nodiscard]] static std::optional<Nanoseconds> ReadClock(int32_t pid);
  [[nodiscard]] static Nanoseconds CpuOf(const os::ProcessStat& stat);

 private:
  [[nodiscard]] const char* PathOf(int32_t pid, std::string_view file);

  CpuSource source_;
  int dir_ = -1;
  char path_[32] = {};
  os::ReadBuffer stat_;
  os::ReadBuffer exe_;
  os::ReadBuffer cgroup_;
};

}  // namespace kepler::activity
