#pragma once
// For tests: predictors of a formula.
#include <limits>
#include <utility>

#include "model/predictor.h"

namespace kepler::model {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Formula>
Predictor Of(Formula formula) {
  Predictor predictor;
  predictor.formula = std::move(formula);
  return predictor;
}

/// x0 < 1.5 ? (x1 < 2 ? 10 : 20, missing to the right) : 30, missing to the left.
inline Trees TwoLevels() {
  Trees trees;
  trees.base = 100;
  trees.roots = {0};
  trees.nodes = {{.value = 1.5F, .left = 1, .right = 2, .feature = 0, .missing_left = true},
                 {.value = 2, .left = 3, .right = 4, .feature = 1, .missing_left = false},
                 {.value = 30},
                 {.value = 10},
                 {.value = 20}};
  return trees;
}

}  // namespace kepler::model
