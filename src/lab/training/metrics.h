#pragma once
// How far predictions are from what was measured. Pure.
#include <cstddef>
#include <span>

#include "model/power_model.h"

namespace kepler::lab::training {

/// What is below that is no reading of a meter, and a percentage of it says nothing.
inline constexpr double kMinWattsOfMape = 1e-3;

/// MAE; MAPE over rows with 1 mW or more; R², which is 0 where the labels vary by less than a microwatt. Both of the
/// same size. Finite for predictions up to model::kMaxWatts and labels up to kMaxWatts.
[[nodiscard]] model::Accuracy Judge(std::span<const double> predicted, std::span<const double> measured);

/// How many rows that MAPE is over.
[[nodiscard]] size_t RowsOfMape(std::span<const double> measured);

}  // namespace kepler::lab::training
