#pragma once
// ResidualAccount: CPU time of one cgroup that no known process used. Pure.
//
// The usage of the cgroup and the clocks of its processes are read at different instants, so their difference
// fluctuates. The account is therefore cumulative: only an excess over every earlier value is a new residual. A
// shortfall is a debt that later time repays.
#include <algorithm>
#include <optional>

#include "base/units.h"

namespace kepler::activity {

class ResidualAccount {
 public:
  /// Resets the account. Usage up to `exclusive` is unattributed.
  void Start(Nanoseconds exclusive) {
    baseline_ = exclusive;
    known_ = booked_ = unpaid_ = doubted_ = compared_used_ = compared_given_ = Nanoseconds{0};
  }
  /// Records that a process of this cgroup used `time`.
  void AddKnown(Nanoseconds time) { known_ += time; }
  /// Returns usage that was not given out; negative if more was given out. `exclusive`: cumulative usage of the cgroup
  /// without its child cgroups.
  [[nodiscard]] Nanoseconds Missing(Nanoseconds exclusive) const { return exclusive - baseline_ - known_ - booked_; }
  /// Returns the new residual, >= 0. A residual below `min` stays in the account for a later call.
  [[nodiscard]] Nanoseconds Book(Nanoseconds exclusive, Nanoseconds min = Nanoseconds{1}) {
    const Nanoseconds fresh = Missing(exclusive);
    if (fresh < min) return Nanoseconds{0};
    doubted_ = Nanoseconds{0};
    booked_ += fresh;
    unpaid_ += fresh;
    return fresh;
  }
  /// Marks the missing usage as doubted. Usage that was already doubted and is still missing is dropped: it was used,
  /// and is known, elsewhere. `held`: the part of the missing usage that is known to be from this interval.
  void Doubt(Nanoseconds exclusive, Nanoseconds held = Nanoseconds{0}) {
    const Nanoseconds missing = std::max(Missing(exclusive), Nanoseconds{0});
    const Nanoseconds given_up = std::min(doubted_, missing);
    booked_ += given_up;
    doubted_ = std::max(missing - given_up - held, Nanoseconds{0});
  }
  /// Returns the part of a record's `time` that residuals already contain, so the time is not given out twice.
  [[nodiscard]] Nanoseconds Repay(Nanoseconds time) {
    const Nanoseconds paid = std::min(time, unpaid_);
    unpaid_ -= paid;
    return paid;
  }
  /// Result of a comparison: `used` is the usage since the latest comparison with a result. `difference` is the usage
  /// that known processes did not use; negative if they used more. There is no result if the usage is below `min`.
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
  /// Returns the time given out (to processes and as residuals) that exceeds `exclusive`, >= 0.
  [[nodiscard]] Nanoseconds Debt(Nanoseconds exclusive) const {
    return std::max(known_ + booked_ - (exclusive - baseline_), Nanoseconds{0});
  }

 private:
  Nanoseconds baseline_{0};
  Nanoseconds known_{0};
  Nanoseconds booked_{0};
  Nanoseconds unpaid_{0};   // part of booked_ that no record has reported yet
  Nanoseconds doubted_{0};  // missing usage that is not in booked_
  Nanoseconds compared_used_{0};
  Nanoseconds compared_given_{0};
};

}  // namespace kepler::activity
