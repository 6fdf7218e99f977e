#pragma once
// When to tick. Deadlines stand at first + k × interval on CLOCK_BOOTTIME, whatever the ticks take; those that pass
// while a tick runs or the machine sleeps are skipped and counted, never bunched. Pure.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::pipeline {

class Schedule {
 public:
  /// interval 0: no deadlines after `first`, ticks come on demand only.
  Schedule(BootTime first, Nanoseconds interval) : next_(first), interval_(interval) {}

  /// The deadline to wait for; nothing when ticks come on demand only.
  [[nodiscard]] std::optional<BootTime> next() const { return next_; }
  /// To call at `now` >= next(): moves to the first deadline after `now`; the others in between are missed.
  void Advance(BootTime now);
  /// Deadlines missed since the last call.
  uint64_t TakeMissed() { return std::exchange(missed_, 0); }

 private:
  std::optional<BootTime> next_;
  Nanoseconds interval_;
  uint64_t missed_ = 0;
};

/// Ages of the last tick that users may rely on.
struct Freshness {
  Nanoseconds interval{0};
  Nanoseconds staleness{0};
  /// Young enough to be served without asking for a tick.
  [[nodiscard]] bool IsFresh(BootTime taken, BootTime now) const { return now - taken <= staleness; }
  /// So old that watts are left out and liveness fails.
  [[nodiscard]] bool IsOld(BootTime taken, BootTime now) const {
    return now - taken > std::max({staleness, 3 * interval, kNeverOld});
  }
  /// Between a tick and the answer to the reader who asked for it some time always passes: with a staleness of 0 every
  /// snapshot would be old.
  static constexpr Nanoseconds kNeverOld = std::chrono::seconds(1);
};

}  // namespace kepler::pipeline
