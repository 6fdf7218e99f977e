#pragma once
// Counts of a CPU's performance counters for one owner, as amounts since an earlier moment.
#include <cstdint>

namespace kepler {

/// All counts are 0 if the events are not counted. Counts are scaled up if the kernel shared the counter
/// (multiplexing).
struct HardwareEvents {
  uint64_t cycles = 0;
  uint64_t instructions = 0;
  uint64_t cache_misses = 0;  // misses of the last-level cache
  constexpr bool operator==(const HardwareEvents&) const = default;
  constexpr HardwareEvents& operator+=(const HardwareEvents& other) {
    cycles += other.cycles;
    instructions += other.instructions;
    cache_misses += other.cache_misses;
    return *this;
  }
};

}  // namespace kepler
