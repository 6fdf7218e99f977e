#pragma once
// ResidualAccount: the time of one cgroup that none of its known processes used. Pure.
//
// The cgroup's usage and the clocks of its processes are read at different instants, so their difference wobbles. It is
// therefore kept cumulatively: only what exceeds every earlier value is new; a shortfall is a debt that later time
// pays.
#include <algorithm>
#include <optional>

#include "base/units.h"

namespace kepler::activity {

class ResidualAccount {
 public:
  /// Forgets everything: usage up to `exclusive` belongs to nobody.
  void Start(Nanoseconds exclusive) {
    baseline_ = exclusive;
    known_ = booked_ = unpaid_ = doubted_ = compared_used_ = compared_given_ = Nanoseconds{0};
  }
  /// A process of this cgroup used `time`.
  void AddKnown(Nanoseconds time) { known_ += time; }
  /// What nobody was given; negative where more was given. `exclusive`: what the cgroup used without its child cgroups,
  /// cumulative.
  [[nodiscard]] Nanoseconds Missing(Nanoseconds exclusive) const { return exclusive - baseline_ - known_ - booked_; }
  /// Returns the new residual, >= 0. Less than `min` is left for a later time.
  [[nodiscard]] Nanoseconds Book(Nanoseconds exclusive, Nanoseconds min = Nanoseconds{1}) {
    const Nanoseconds fresh = Missing(exclusive);
    if (fresh < min) return Nanoseconds{0};
    doubted_ = Nanoseconds{0};
    booked_ += fresh;
    unpaid_ += fresh;
    return fresh;
  }
  /// What is missing by now is doubted; what was doubted before and is still missing is given up: it was used, and is
  /// known, elsewhere. `held`: of what is missing, what is known to have been used in this interval.
  void Doubt(Nanoseconds exclusive, Nanoseconds held = Nanoseconds{0}) {
    const Nanoseconds missing = std::max(Missing(exclusive), Nanoseconds{0});
    const Nanoseconds given_up = std::min(doubted_, missing);
    booked_ += given_up;
    doubted_ = std::max(missing - given_up - held, Nanoseconds{0});
  }
  /// A record has come for `time` that may be in the residual already: how much of it is. Nobody is given that twice.
  [[nodiscard]] Nanoseconds Repay(Nanoseconds time) {
    const Nanoseconds paid = std::min(time, unpaid_);
    unpaid_ -= paid;
    return paid;
  }
  /// What was used since the latest comparison that gave an answer, and what of it the known processes did not use, or
  /// used too much. Nothing where less than `min` was used.
  struct Comparison {
    Nanoseconds used{0};
    Nanoseconds difference{0};
  };
  [[nodiscard]] std::optional<Comparison> Compare(Nanoseconds exclusive, bool with_residual, Nanoseconds min) {
    const Nanoseconds used = exclusive - baseline_ - compared_used_;
    const Nanoseconds given = known_ + (with_residual ? booked_ : Nanoseconds{0}) - compared_given_;
    if (used < min) return std::nullopt;
    compared_used_ += used;
    compared_given_ += given;
    return Comparison{used, used - given};
  }
  /// How much more was given out (to processes and as residual) than `exclusive` covers, >= 0.
  [[nodiscard]] Nanoseconds Debt(Nanoseconds exclusive) const {
    return std::max(known_ + booked_ - (exclusive - baseline_), Nanoseconds{0});
  }

 private:
  Nanoseconds baseline_{0};
  Nanoseconds known_{0};
  Nanoseconds booked_{0};
  Nanoseconds unpaid_{0};   // of booked_: no record has reported it yet
  Nanoseconds doubted_{0};  // missing, and not booked
  Nanoseconds compared_used_{0};
  Nanoseconds compared_given_{0};
};

}  // namespace kepler::activity
