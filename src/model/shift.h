#pragma once
// Shifted features in formulas. Pure.
#include <span>

#include "base/result.h"
#include "model/predictor.h"

namespace kepler::model {

/// Replaces x by x + shift in the formula, one shift per feature. The predictor must have passed Check(), without
/// limits. kInvalid for curves and blends.
[[nodiscard]] Status ShiftFeatures(std::span<const double> shift, Predictor& predictor);

}  // namespace kepler::model
