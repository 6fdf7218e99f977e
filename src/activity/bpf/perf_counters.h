#pragma once
// PerfCounters: counters read by the sched_switch program. Each CPU has one counter per event, which counts all tasks
// (perf_event_open(2) with pid -1, needs CAP_PERFMON).
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
  kSoftware   // cpu-clock, context switches and page faults instead: tests the same path on a machine without a PMU
};

/// Index: event (0 cycles, 1 instructions, 2 cache misses), then CPU. A missing counter is an invalid descriptor.
using PerfCounters = std::array<std::vector<UniqueFd>, KEPLER_COUNTERS>;

/// Opens the counters on every online CPU. An event that the machine lacks is left out and logged once. If no event is
/// available, returns the error of the last event; kPermission if CAP_PERFMON is missing.
[[nodiscard]] Result<PerfCounters> OpenCounters(CounterKind kind);

}  // namespace kepler::activity::bpf
