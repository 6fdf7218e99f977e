#pragma once
// PowerIntegral: the energy of a power sensor, by the trapezoidal rule over the time between readings. Exact: the
// fraction of a microjoule that a step leaves is added to the next one. Not thread-safe.
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::energy {

class PowerIntegral {
 public:
  /// Maximum time between two readings. After a longer gap the machine may have been suspended.
  static constexpr std::chrono::minutes kLongestGap{5};

  /// Returns the energy since the previous reading. Returns nothing for the first reading and after a gap of more than
  /// kLongestGap: the integral then continues from `now`.
  std::optional<Energy> Add(Power now, BootTime at);
  [[nodiscard]] bool empty() const { return !power_; }

 private:
  std::optional<Power> power_;  // the previous reading, taken at_
  BootTime at_{};
  double carry_uj_ = 0;  // fraction of a microjoule that is not counted yet, in [0, 1)
};

}  // namespace kepler::energy
