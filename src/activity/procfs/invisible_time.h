#pragma once
// InvisibleTime: CPU time that no visible task used, where not every task is visible. Pure.
#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace kepler::activity::procfs {

/// /proc/stat is sampled at timer ticks: over one scan it can be far off, in either direction. So the rest is smoothed
/// before its sign is looked at. Smoothed is its rate: scans are of unequal length, and a short one must not be given
/// the amount of a long one.
class InvisibleTime {
 public:
  /// `busy`: of the machine since the previous scan, `elapsed` ago; `seen`: what was given out of it.
  [[nodiscard]] Nanoseconds Update(Nanoseconds busy, Nanoseconds seen, Nanoseconds elapsed) {
    if (elapsed <= Nanoseconds{0}) return Nanoseconds{0};
    const auto length = static_cast<double>(elapsed.count());
    rate_ += (static_cast<double>((busy - seen).count()) / length - rate_) / kScans;
    return Nanoseconds{std::llround(std::max(rate_, 0.0) * length)};
  }
  void Reset() { rate_ = 0; }

 private:
  static constexpr double kScans = 5;
  double rate_ = 0;  // CPU time per time
};

}  // namespace kepler::activity::procfs
