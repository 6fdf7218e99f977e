#pragma once
// PerfCounters: the counters that the sched_switch program reads, one of each kind on every processor, counting
// whatever runs there (perf_event_open(2) with pid -1: CAP_PERFMON).
#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "bpf/abi.h"

namespace kepler::activity::bpf {

enum class CounterKind : uint8_t {
  kOff,
  kHardware,  // cycles, retired instructions, misses of the last-level cache
  kSoftware   // cpu-clock, context switches and page faults in their places: the same path where there is no PMU
};

/// By event (0 cycles, 1 instructions, 2 cache misses), then by processor; an invalid descriptor where there is none.
using PerfCounters = std::array<std::vector<UniqueFd>, KEPLER_COUNTERS>;

/// Opens them on every processor that is online. An event that this machine lacks stays out, with one line in the log;
/// without any that is the error of the last one, kPermission where CAP_PERFMON is missing.
[[nodiscard]] Result<PerfCounters> OpenCounters(CounterKind kind);

}  // namespace kepler::activity::bpf
