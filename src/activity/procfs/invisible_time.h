#pragma once
// InvisibleTime: CPU time that no visible task used, on a system that hides some tasks. Pure.
#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace kepler::activity::procfs {

/// /proc/stat is sampled at timer ticks, so the value of one scan can be far off in either direction. The remainder is
/// therefore smoothed before its sign is checked. Scans have unequal lengths. The rate is smoothed, not the amount: a
/// short scan must not get the amount of a long scan.
class InvisibleTime {
 public:
  /// `busy`: CPU time of the machine in `elapsed`, the time since the previous scan. `seen`: the part that was given
  /// out.
  [[nodiscard]] Nanoseconds Update(Nanoseconds busy, Nanoseconds seen, Nanoseconds elapsed) {
    if (elapsed <= Nanoseconds{0}) return Nanoseconds{0};
    const auto length = static_cast<double>(elapsed.count());
    rate_ += (static_cast<double>((busy - seen).count()) / length - rate_) / kScans;
    return Nanoseconds{std::llround(std::max(rate_, 0.0) * length)};
  }
  void Reset() { rate_ = 0; }

 private:
  static constexpr double kScans = 5;
  double rate_ = 0;  // CPU seconds per second
};

}  // namespace kepler::activity::procfs
