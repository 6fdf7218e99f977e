#pragma once
// PerfCounters: counters read by the sched_switch program. Each CPU has one counter per event, which counts all tasks
// (perf_event_open(2) with pid -1, needs CAP_PERFMON).
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

enum class CounterKind : uint8_t {
  kOff,
  kHardware,  // cycles, retired instructions, misses of the last-level cache
  kSoftware   // cpu-clock, context switches and page faults instead: tests the same path on a machine without a PMU
};

/// One way to request an event from the kernel: perf_event_attr.
struct EventEncoding {
  uint32_t type = 0;
  uint64_t config = 0;
};

class PerfCounters {
 public:
  /// Opens the counters on every online CPU. An event that the machine lacks is left out and logged once. If no event
  /// is available, returns the error of the last event; kPermission if CAP_PERFMON is missing.
  [[nodiscard]] static Result<PerfCounters> Open(CounterKind kind);

  [[nodiscard]] size_t cpus() const { return enabled_.size(); }
  /// `event`: 0 cycles, 1 instructions, 2 cache misses. Invalid if the counter is missing.
  [[nodiscard]] const UniqueFd& fd(size_t event, size_t cpu) const { return fds_[event][cpu]; }
  /// Opens what does not count on `cpu`, which is online: the kernel ends the counters of a CPU that goes offline. They
  /// have ended if their time has not advanced since the previous call. Returns true if a descriptor has changed.
  bool Reopen(size_t cpu);

 private:
  [[nodiscard]] bool HasStopped(size_t cpu);

  std::array<std::optional<EventEncoding>, KEPLER_COUNTERS> encodings_;  // empty: the machine lacks the event
  std::array<std::vector<UniqueFd>, KEPLER_COUNTERS> fds_;               // by CPU
  std::vector<uint64_t> enabled_;  // by CPU: time that its first counter has counted, at the previous Reopen()
};

}  // namespace kepler::activity::bpf
