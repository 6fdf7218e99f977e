#pragma once
// How much a model depends on each of its features, by permutation: a feature's values are shuffled among the rows, and
// the increase of the error is the feature's importance (Breiman, "Random Forests", 2001). Pure; the same rows give the
// same result.
#include <span>
#include <string>
#include <vector>

#include "lab/judging/data.h"
#include "lab/training/samples.h"
#include "model/power_model.h"

namespace kepler::lab::judging {

struct Importance {
  std::string feature;
  double watts = 0;  // increase of the MAE; about 0 or less: the feature is not used
};

/// Maximum number of predicted rows. In a larger table, evenly spaced rows are predicted.
inline constexpr size_t kMaxImportanceRows = 4000;

/// Of each feature of `model`, the largest first. `rows` are indices in `all`, `measured` and `cores` (as in
/// Measurements). Features that carry the
/// same information share their importance: each replaces the other.
[[nodiscard]] std::vector<Importance> ImportanceOf(const model::PowerModel& model, const training::Matrix& all,
                                                   const Target& target, std::span<const double> measured,
                                                   std::span<const size_t> rows, std::span<const double> cores);

}  // namespace kepler::lab::judging
