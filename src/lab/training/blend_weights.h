#pragma once
// The weights of the candidates of "auto" in its blend, by their errors on unseen rows. Private to training. Pure.
#include <optional>
#include <span>
#include <vector>

namespace kepler::lab::training {

/// Mean absolute errors of a candidate on unseen rows.
struct Tested {
  double mae_watts = 0;
  /// Relative to the mean power of the machine, so that a large server counts as much as a small one. Ascending by the
  /// number of the machine; one if all rows are of one machine.
  std::vector<double> by_machine{};
};

/// Returns a weight for each candidate, in all 1; 0: not in the blend. `tested` is empty for a candidate that cannot be
/// fitted. If none can be fitted, the first one gets all.
///
/// One machine: a 10 % larger error than that of the best candidate halves the weight. Several machines: errors differ
/// far more between machines than between candidates, so a few machines rarely show which candidate is best on others.
/// There the weight falls with the mean difference to the best candidate, in standard errors over the machines.
[[nodiscard]] std::vector<double> WeightsInBlend(std::span<const std::optional<Tested>> tested);

}  // namespace kepler::lab::training
