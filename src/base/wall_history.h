#pragma once
// WallHistory: the wall time of each boot time, as the wall clock showed it then. A later step of the wall clock (NTP,
// an operator) does not change the result, so a series keeps its start time. One writer; a const object is thread-safe.
#include <vector>

#include "base/clock.h"

namespace kepler {

class WallHistory {
 public:
  WallHistory(BootTime now, WallTime wall) : steps_{{now, wall - now.time_since_epoch()}}, last_(now) {}

  /// Records the two clocks, which were read together. Returns true if the wall clock was set since the last call:
  /// times from that call on are then on the new clock.
  bool Observe(BootTime now, WallTime wall);
  /// True if the clock differs from the last step that was recorded, because there are kMaxSteps.
  [[nodiscard]] bool ignores_step() const { return ignores_step_; }
  /// Times before the first reading are on its clock.
  [[nodiscard]] WallTime Of(BootTime at) const;

  /// Smaller differences come from reading the two clocks one after the other.
  static constexpr std::chrono::milliseconds kSmallestStep{100};
  /// After this number of steps, later ones are ignored: a known start time must not change.
  static constexpr size_t kMaxSteps = 1'000;

 private:
  struct Step {
    BootTime from;
    WallTime at_boot;  // wall time at boot time 0
  };
  std::vector<Step> steps_;  // in order of time; never empty
  BootTime last_;
  bool ignores_step_ = false;
};

}  // namespace kepler
