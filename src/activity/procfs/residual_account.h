#pragma once
// ResidualAccount: the time of one cgroup that none of its known processes used. Pure.
//
// The cgroup's usage and the clocks of its processes are read at different instants, so their difference wobbles. It is
// therefore kept cumulatively: only what exceeds every earlier value is new; a shortfall is a debt that later time
// pays.
#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace kepler::activity::procfs {

class ResidualAccount {
 public:
  /// Forgets everything: usage up to `exclusive` belongs to nobody.
  void Start(Nanoseconds exclusive) {
    baseline_ = exclusive;
    known_ = booked_ = Nanoseconds{0};
  }
  /// A process of this cgroup used `time`.
  void AddKnown(Nanoseconds time) { known_ += time; }
  /// `exclusive`: what the cgroup used without its child cgroups, cumulative. Returns the new residual, >= 0.
  [[nodiscard]] Nanoseconds Book(Nanoseconds exclusive) {
    const Nanoseconds surplus = exclusive - baseline_ - known_;
    const Nanoseconds fresh = std::max(surplus - booked_, Nanoseconds{0});
    booked_ += fresh;
    return fresh;
  }
  /// How much more was given out (to processes and as residual) than `exclusive` covers, >= 0.
  [[nodiscard]] Nanoseconds Debt(Nanoseconds exclusive) const {
    return std::max(known_ + booked_ - (exclusive - baseline_), Nanoseconds{0});
  }

 private:
  Nanoseconds baseline_{0};
  Nanoseconds known_{0};
  Nanoseconds booked_{0};
};

}  // namespace kepler::activity::procfs
