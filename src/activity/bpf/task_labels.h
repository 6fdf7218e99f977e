#pragma once
// Helpers for labels, texts and times in the kernel side's format (kepler_task). Pure.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/clock.h"
#include "base/ids.h"
#include "bpf/abi.h"
#include "os/proc_stat.h"

namespace kepler::activity::bpf {

/// Returns CLOCK_BOOTTIME in nanoseconds, the clock of task start times; never 0.
[[nodiscard]] inline uint64_t SinceBoot(BootTime time) {
  return static_cast<uint64_t>(std::max<int64_t>(time.time_since_epoch().count(), 1));
}
/// Returns a text field up to its NUL, or the whole field if it has none.
template <size_t kBytes>
[[nodiscard]] std::string_view TextOf(const char (&field)[kBytes]) {
  return {field, ::strnlen(field, kBytes)};
}
[[nodiscard]] inline std::string_view CommOf(const kepler_task& task) { return TextOf(task.comm); }
[[nodiscard]] inline bool IsKernelThread(const kepler_task& task) { return task.parent_tgid == KEPLER_KERNEL_THREAD; }
static_assert(KEPLER_UNKNOWN_UID == kUnknownUid);
[[nodiscard]] inline bool IsLeader(const kepler_task& task) { return task.tid == task.tgid; }
/// Returns true if the kernel's sum in a leader's record exceeds the time of the leader.
[[nodiscard]] inline bool HadThreads(const kepler_task& leader) { return leader.group_ran_dead > leader.ran; }
/// Rounds a start time to the resolution of /proc.
[[nodiscard]] inline uint64_t WholeTicks(uint64_t start) {
  return start - start % static_cast<uint64_t>(os::ClockTick().count());
}
/// Field 22 of /proc/PID/stat is the same start time in clock ticks (nsec_to_clock_t, kernel/time/time.c).
[[nodiscard]] inline ProcessKey KeyOf(int32_t tgid, uint64_t start) {
  return {tgid, start / static_cast<uint64_t>(os::ClockTick().count())};
}

}  // namespace kepler::activity::bpf
