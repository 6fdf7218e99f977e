#pragma once
// Schedule: deadlines of ticks at first + k × interval on CLOCK_BOOTTIME, independent of the length of ticks. Deadlines
// that pass during a tick or a suspend are skipped and counted. Pure.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::pipeline {

class Schedule {
 public:
  /// interval 0: no deadline after `first`, only ticks on demand.
  Schedule(BootTime first, Nanoseconds interval) : next_(first), interval_(interval) {}

  /// The next deadline; empty if there are only ticks on demand.
  [[nodiscard]] std::optional<BootTime> next() const { return next_; }
  /// Call at `now` >= next(). Moves to the first deadline after `now`. The deadlines in between are missed.
  void Advance(BootTime now);
  /// Returns the number of deadlines missed since the previous call.
  uint64_t TakeMissed() { return std::exchange(missed_, 0); }

 private:
  std::optional<BootTime> next_;
  Nanoseconds interval_;
  uint64_t missed_ = 0;
};

/// Limits for the age of the latest tick.
struct Freshness {
  Nanoseconds interval{0};
  Nanoseconds staleness{0};
  /// Returns true if the snapshot may be served without a new tick.
  [[nodiscard]] bool IsFresh(BootTime taken, BootTime now) const { return now - taken <= staleness; }
  /// Returns true if watts must be left out and liveness fails.
  [[nodiscard]] bool IsOld(BootTime taken, BootTime now) const {
    return now - taken > std::max({staleness, 3 * interval, kNeverOld});
  }
  /// A snapshot younger than this is never old. Some time always passes between a tick and its use, so with a staleness
  /// of 0 each snapshot would be old.
  static constexpr Nanoseconds kNeverOld = std::chrono::seconds(1);
};

}  // namespace kepler::pipeline
