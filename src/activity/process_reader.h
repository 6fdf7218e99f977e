#pragma once
// ProcessReader: reads CPU time and details of one process from <procfs>; keeps no descriptor per process.
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
    kClock,  // CPU clock of the process: nanoseconds, one system call, no privilege
    kStat    // utime + stime: clock ticks, three system calls
  };

  /// A CPU clock takes a pid of this process' own pid namespace. It is correct only if `procfs` uses the same pids.
  /// Otherwise a read silently returns the time of another process.
  [[nodiscard]] static CpuSource SourceFor(const std::string& procfs);

  /// `with_uids`: RealUid() reads the user of a process. Otherwise it is unknown, without a read.
  explicit ProcessReader(CpuSource source, bool with_uids = false) : source_(source), with_uids_(with_uids) {}

  /// The caller keeps ownership of `procfs_fd`.
  void SetDirectory(int procfs_fd) { dir_ = procfs_fd; }
  [[nodiscard]] CpuSource source() const { return source_; }

  // Each view is valid until the next call of the same function.
  [[nodiscard]] Result<os::ProcessStat> Stat(int32_t pid);
  [[nodiscard]] Result<std::string_view> Exe(int32_t pid);  // without " (deleted)"
  [[nodiscard]] Result<std::string_view> Cgroup(int32_t pid);
  [[nodiscard]] Result<os::CgroupLines> CgroupLines(int32_t pid);
  [[nodiscard]] Result<uint32_t> RealUid(int32_t pid);  // kUnknownUid without `with_uids`

  /// Returns CPU time of all threads since process start, exited threads included. Empty if the process does not exist.
  [[nodiscard]] static std::optional<Nanoseconds> ReadClock(int32_t pid);
  [[nodiscard]] static Nanoseconds CpuOf(const os::ProcessStat& stat);

 private:
  [[nodiscard]] const char* PathOf(int32_t pid, std::string_view file);

  CpuSource source_;
  bool with_uids_;
  int dir_ = -1;
  char path_[32] = {};
  os::ReadBuffer stat_;
  os::ReadBuffer exe_;
  os::ReadBuffer cgroup_;
  os::ReadBuffer status_;
};

}  // namespace kepler::activity
