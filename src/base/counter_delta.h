#pragma once
// CounterDelta: the only conversion of two raw readings of a hardware counter into an amount of energy.
#include <cstdint>
#include <optional>

#include "base/units.h"

namespace kepler {

/// A raw reading of a free-running counter in microjoules. Its type differs from Energy on purpose: a reading is a
/// position, not an amount.
struct RawCounter {
  uint64_t microjoules = 0;
  constexpr auto operator<=>(const RawCounter&) const = default;
};

/// Physical limits between two readings.
struct DeltaLimits {
  // largest value of the counter; the next value is 0. Empty: the range is unknown, and the counter never wraps
  std::optional<uint64_t> range;
  Energy max;  // maximum possible energy between the readings
};

enum class DeltaKind : uint8_t {
  kFirst,    // no earlier reading: no energy to add
  kNormal,   // now >= previous
  kWrapped,  // the counter wrapped once: range - previous + now + 1
  // the counter fell and a wrap is impossible (driver reload, suspend): the reading is the new base, no energy is added
  kReset,
  kRejected  // exceeds the physical limit: the reading is the new base, the rejected energy is reported
};

struct CounterDelta {
  DeltaKind kind = DeltaKind::kFirst;
  Energy energy;   // energy to add: 0 unless kNormal or kWrapped
  Energy refused;  // rejected energy: only for kRejected (a lower bound if it exceeds int64)
};

/// Pure. A lower reading is a wrap only if the range is known, `previous` is within the range, and the wrapped amount
/// is at most `max`. Otherwise a lower reading is a reset.
[[nodiscard]] CounterDelta DeltaBetween(std::optional<RawCounter> previous, RawCounter now, const DeltaLimits& limits);

}  // namespace kepler
