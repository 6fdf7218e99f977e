#pragma once
// IdleBaselineFit: learns the idle power of a zone from its power and the usage ratio of the machine. Usage ratios are
// divided into bins, because power at one ratio says little about power at another. Each bin keeps its own low mean, so
// hours of load do not change the values of a quiet minute. The method and its limits are in
// docs/decisions/0016-idle-baseline.md. Pure, allocates nothing; collection thread only.
#include <array>
#include <cstddef>
#include <optional>

#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// Returns the share of `power` above the baseline, at least 0; 0 if there is no power.
[[nodiscard]] inline Ratio ShareAbove(Power baseline, Power power) {
  return Ratio::Clamped(1 - baseline.watts() / power.watts());
}

/// The fit of one zone.
class IdleBaselineFit {
 public:
  /// Adds an interval of length `elapsed` with the usage ratio `busy`. Intervals are consecutive. `power`: mean since
  /// the previous call with a power; empty if there was no new reading.
  void Learn(std::optional<Power> power, Ratio busy, Nanoseconds elapsed);
  /// An interval with unknown power or busy share, or in which the machine may have slept.
  void Skip(Nanoseconds elapsed);
  /// Latest baseline. Once there is one, there is always one.
  [[nodiscard]] const snapshot::IdleBaseline& latest() const { return latest_; }

  // All in seconds.
  static constexpr double kShortest = 1;     // shorter intervals are joined, because usage ratios come from timer ticks
  static constexpr double kLongest = 300;    // longer intervals are ignored: the machine may have been suspended
  static constexpr double kHeaviest = 15;    // maximum weight of an interval
  static constexpr double kEnough = 60;      // minimum total of a bin before it is used
  static constexpr double kFall = 60;        // time constant of a bin for lower power
  static constexpr double kRise = 600;       // time constant of a bin for higher power
  static constexpr double kAging = 864'000;  // after this time without a reading, the uncertainty equals the baseline

 private:
  /// Intervals with usage ratios below the bin's upper end. 0 seconds: none so far.
  struct Bin {
    double watts = 0;   // low mean: it follows lower values ten times as fast as higher values
    double latest = 0;  // of the latest interval
    double spread = 0;  // mean distance of intervals from `watts`
    double busy = 0;
    double seconds = 0;
    double last = 0;  // time of the latest interval
    [[nodiscard]] bool known() const { return seconds >= kEnough; }
  };
  static constexpr std::array kUpperEnds = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0};
  /// Joined intervals that are still too short.
  struct Pending {
    double seconds = 0;
    double unread = 0;  // part of `seconds` since the latest reading
    double busy = 0;    // usage ratio × seconds
    double joules = 0;
  };

  void Note(double watts, double busy, double seconds);
  void Conclude();
  [[nodiscard]] std::optional<snapshot::IdleBaseline> From(const Bin& anchor) const;
  [[nodiscard]] std::optional<double> SlopeAt(const Bin& anchor) const;

  std::array<Bin, kUpperEnds.size()> bins_{};
  Pending pending_;
  double now_ = 0;  // sum of all intervals
  snapshot::IdleBaseline latest_;
};

}  // namespace kepler::attribution
