#pragma once
// What the performance counters of a processor count for somebody, as amounts since an earlier moment or since a start.
#include <cstdint>

namespace kepler {

/// All 0 where they are not counted. Scaled up where the kernel gave a counter to others meanwhile (multiplexing).
struct HardwareEvents {
  uint64_t cycles = 0;
  uint64_t instructions = 0;
  uint64_t cache_misses = 0;  // of the last level
  constexpr bool operator==(const HardwareEvents&) const = default;
  constexpr HardwareEvents& operator+=(const HardwareEvents& other) {
    cycles += other.cycles;
    instructions += other.instructions;
    cache_misses += other.cache_misses;
    return *this;
  }
};

}  // namespace kepler
