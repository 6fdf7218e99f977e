#pragma once
// IdleBaselineFit: the power that a zone needs when no work is done, from the power that it took and how busy the
// machine was meanwhile. Power at one usage ratio says little about power at another, so the ratio is cut into bins,
// and each bin keeps a low mean of its own: hours of load take nothing from what a quiet minute has taught. The method
// and its limits: docs/decisions/0016-idle-baseline.md. Pure, allocates nothing; collection thread only.
#include <array>
#include <cstddef>
#include <optional>

#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::attribution {

/// The part of `power` that is above the baseline, which never takes more than there is. 0 where no power is used.
[[nodiscard]] inline Ratio ShareAbove(Power baseline, Power power) {
  return Ratio::Clamped(1 - baseline.watts() / power.watts());
}

/// Of one zone.
class IdleBaselineFit {
 public:
  /// The machine was `busy` for `elapsed`, which follows on the interval before. `power`: the mean since the last call
  /// that had one; nothing: no new reading.
  void Learn(std::optional<Power> power, Ratio busy, Nanoseconds elapsed);
  /// An interval with unknown power or busy share, or in which the machine may have slept.
  void Skip(Nanoseconds elapsed);
  /// What is known so far. Once learnt it is never unlearnt.
  [[nodiscard]] const snapshot::IdleBaseline& latest() const { return latest_; }

  // All in seconds.
  static constexpr double kShortest = 1;     // shorter intervals are put together: timer ticks say nothing about them
  static constexpr double kLongest = 300;    // longer ones teach nothing: the machine may have slept
  static constexpr double kHeaviest = 15;    // what one interval counts for at most
  static constexpr double kEnough = 60;      // seen of a bin before anything is said from it
  static constexpr double kFall = 60;        // time constants with which a bin follows lower power,
  static constexpr double kRise = 600;       // and higher power
  static constexpr double kAging = 864'000;  // after so long without a look the baseline is uncertain by itself

 private:
  /// Usage ratios below the bin's upper end. 0 seconds: never seen.
  struct Bin {
    double watts = 0;   // a low mean: follows what is below it ten times as fast as what is above
    double latest = 0;  // the interval that was noted last
    double spread = 0;  // mean distance of single intervals from `watts`
    double busy = 0;
    double seconds = 0;
    double last = 0;  // when
    [[nodiscard]] bool known() const { return seconds >= kEnough; }
  };
  static constexpr std::array kUpperEnds = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0};
  /// An interval that is not long enough yet.
  struct Pending {
    double seconds = 0;
    double unread = 0;  // of these, since the last reading
    double busy = 0;    // × seconds
    double joules = 0;
  };

  void Note(double watts, double busy, double seconds);
  void Conclude();
  [[nodiscard]] std::optional<snapshot::IdleBaseline> From(const Bin& anchor) const;
  [[nodiscard]] std::optional<double> SlopeAt(const Bin& anchor) const;

  std::array<Bin, kUpperEnds.size()> bins_{};
  Pending pending_;
  double now_ = 0;  // all that has elapsed
  snapshot::IdleBaseline latest_;
};

}  // namespace kepler::attribution
