#include "base/wall_history.h"

#include <algorithm>
#include <utility>

namespace kepler {

bool WallHistory::Observe(BootTime now, WallTime wall) {
  const BootTime previous = std::exchange(last_, now);
  const WallTime at_boot = wall - now.time_since_epoch();
  const bool is_set = std::chrono::abs(at_boot - steps_.back().at_boot) >= kSmallestStep;
  ignores_step_ = is_set && steps_.size() == kMaxSteps;
  if (!is_set || ignores_step_) return false;
  steps_.push_back({previous, at_boot});
  return true;
}

WallTime WallHistory::Of(BootTime at) const {
  const auto after = std::ranges::upper_bound(steps_, at, {}, &Step::from);
  const Step& step = after == steps_.begin() ? steps_.front() : *std::prev(after);
  return step.at_boot + at.time_since_epoch();
}

}  // namespace kepler
