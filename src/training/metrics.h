#pragma once
// How far predictions are from what was measured. Pure.
#include <span>

#include "model/power_model.h"

namespace kepler::training {

/// MAE, MAPE over rows with more than 0 W, R² (0 where the labels do not vary). Both of the same size.
[[nodiscard]] model::Accuracy Judge(std::span<const double> predicted, std::span<const double> measured);

}  // namespace kepler::training
