#pragma once
// CounterDelta: the only way from two raw readings of a hardware counter to an amount of energy.
#include <cstdint>
#include <optional>

#include "base/units.h"

namespace kepler {

/// A raw reading of a free-running counter in microjoules. A different type from Energy on purpose: a reading is a
/// position, not an amount.
struct RawCounter {
  uint64_t microjoules = 0;
  constexpr auto operator<=>(const RawCounter&) const = default;
};

/// What is physically possible between two readings.
struct DeltaLimits {
  std::optional<uint64_t> range;  // the largest value the counter can show; after it comes 0. Unknown: never wraps
  Energy max;                     // more than this cannot have been used meanwhile
};

enum class DeltaKind : uint8_t {
  kFirst,    // no earlier reading: nothing to add
  kNormal,   // now >= previous
  kWrapped,  // passed its range once: range - previous + now + 1
  kReset,    // fell and a wrap is impossible (driver reload, suspend): the reading re-bases, nothing is invented
  kRejected  // more than physics allows: the reading re-bases, the refused energy is reported
};

struct CounterDelta {
  DeltaKind kind = DeltaKind::kFirst;
  Energy energy;   // what to add: 0 unless kNormal or kWrapped
  Energy refused;  // what was not believed: only for kRejected (a lower bound if it exceeds int64)
};

/// Pure. A fall is a wrap only if the range is known, `previous` lies within it and the wrapped amount passes `max`;
/// otherwise it is a reset.
[[nodiscard]] CounterDelta DeltaBetween(std::optional<RawCounter> previous, RawCounter now, const DeltaLimits& limits);

}  // namespace kepler
