#pragma once
// Values of samples, in their exact types and as doubles. Pure.
#include <cstdint>
#include <variant>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::series {

/// Value of a sample in its exact type.
using Number = std::variant<Energy, Nanoseconds, uint64_t, double>;
[[nodiscard]] inline Number Of(Energy energy) { return energy; }
[[nodiscard]] inline Number Of(Nanoseconds time) { return time; }
[[nodiscard]] inline Number Of(Ratio ratio) { return ratio.value(); }
[[nodiscard]] inline Number Of(uint64_t count) { return count; }
[[nodiscard]] inline Number Of(double value) { return value; }
[[nodiscard]] inline Number Of(bool value) { return uint64_t{value}; }
/// Returns the time since the epoch; the epoch itself ("never") is 0.
[[nodiscard]] inline Number Of(WallTime time) { return Nanoseconds(time.time_since_epoch()); }

// The double, in joules or seconds, that a reader of the text formats gets: the nearest one. A value that is not finite
// becomes 0.
[[nodiscard]] double AsDouble(Energy energy);
[[nodiscard]] double AsDouble(Nanoseconds time);
[[nodiscard]] inline double AsDouble(uint64_t count) { return static_cast<double>(count); }
[[nodiscard]] double AsDouble(double value);

}  // namespace kepler::series
