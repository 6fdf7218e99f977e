#pragma once
// One rule for readings that no machine can have: power above twice the lasting maximum of the domain, because stated
// limits are means over seconds. Pure.
#include <algorithm>

#include "base/units.h"

namespace kepler::energy {

/// Lasting maximum of a counter, which measures a socket, if none is stated.
inline const Power kMaxOfCounter = Power::Watts(1'000);
/// Lasting maximum of a sensor, which may measure a whole server, if none is stated.
inline const Power kMaxOfSensor = Power::Watts(10'000);

[[nodiscard]] inline Power PlausiblePower(Power max) { return max + max; }

[[nodiscard]] inline Energy EnergyOf(Power power, Nanoseconds elapsed) {
  constexpr double kRepresentable = 9.2e18;
  const double microjoules = power.watts() * static_cast<double>(elapsed.count()) / 1e3;
  return Energy::Microjoules(static_cast<int64_t>(std::min(microjoules, kRepresentable)));
}

/// Meters update in steps (RAPL every millisecond, firmware up to 100 ms), so a very short interval may contain the
/// energy of a longer one.
[[nodiscard]] inline Energy PlausibleEnergy(Power max, Nanoseconds elapsed) {
  constexpr Nanoseconds kLongestStep = std::chrono::milliseconds(100);
  return EnergyOf(PlausiblePower(max), elapsed + kLongestStep);
}

}  // namespace kepler::energy
