#include "activity/process_reader.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/ids.h"
#include "os/proc_stat.h"

namespace kepler::activity {

ProcessReader::CpuSource ProcessReader::SourceFor(const std::string& procfs) {
  const auto status = os::ReadWholeFile(procfs + "/self/status");
  if (!status) return CpuSource::kStat;
  const auto pids = os::ParseNsPids(*status);
  const bool same_namespace = pids && pids->size() == 1 && pids->front() == ::getpid();
  // Sandboxes that imitate Linux may lack the process clock.
  return same_namespace && ReadClock(::getpid()) ? CpuSource::kClock : CpuSource::kStat;
}

const char* ProcessReader::PathOf(int32_t pid, std::string_view file) {
  char* end = std::to_chars(path_, path_ + 12, pid).ptr;
  *end++ = '/';
  std::memcpy(end, file.data(), file.size());
  end[file.size()] = '\0';
  return path_;
}

Result<os::ProcessStat> ProcessReader::Stat(int32_t pid) {
  KEPLER_TRY(const std::string_view text, os::ReadRecordAt(dir_, PathOf(pid, "stat"), stat_));
  auto stat = os::ParseProcessStat(text);
  if (!stat) return Fail(stat.error().kind, std::string(path_) + ": " + stat.error().message);
  return stat;
}

Result<std::string_view> ProcessReader::Exe(int32_t pid) {
  KEPLER_TRY(const std::string_view target, os::ReadLinkAt(dir_, PathOf(pid, "exe"), exe_));
  return os::StripDeleted(target);
}

Result<std::string_view> ProcessReader::Cgroup(int32_t pid) {
  return os::ReadRecordAt(dir_, PathOf(pid, "cgroup"), cgroup_);
}

Result<os::CgroupLines> ProcessReader::CgroupLines(int32_t pid) {
  KEPLER_TRY(const std::string_view text, Cgroup(pid));
  return os::ParseCgroupLines(text);
}

Result<uint32_t> ProcessReader::RealUid(int32_t pid) {
  if (!with_uids_) return kUnknownUid;
  KEPLER_TRY(const std::string_view text, os::ReadRecordAt(dir_, PathOf(pid, "status"), status_));
  return os::ParseRealUid(text);
}

std::optional<Nanoseconds> ProcessReader::ReadClock(int32_t pid) {
  // Same as clock_getcpuclockid(3) without its extra system call. The id is the pid's complement above three bits; 2 is
  // CPUCLOCK_SCHED.
  const auto id = static_cast<clockid_t>((~static_cast<unsigned>(pid) << 3) | 2U);
  timespec time = {};
  // Calls the kernel directly. The vDSO would check its own clocks first, for each process of each scan.
  if (::syscall(SYS_clock_gettime, id, &time) != 0) return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

Nanoseconds ProcessReader::CpuOf(const os::ProcessStat& stat) {
  const Nanoseconds tick = os::ClockTick();
  const auto max = static_cast<uint64_t>(std::numeric_limits<int64_t>::max() / tick.count() / 2);
  const uint64_t ticks = std::min(stat.utime_ticks, max) + std::min(stat.stime_ticks, max);
  return tick * static_cast<int64_t>(ticks);
}

}  // namespace kepler::activity
