#pragma once
// Limits of the error that a model may have. Pure.
#include <string>
#include <vector>

#include "lab/training/validation.h"

namespace kepler::lab::judging {

/// 0: no limit.
struct Limits {
  double mae_watts = 0;
  double mape = 0;  // percent
};

[[nodiscard]] bool HasLimit(const Limits& limits);
/// Returns the limits that `errors` exceed, in words: "MAE is above 5 W". A MAPE over no row exceeds its limit.
[[nodiscard]] std::vector<std::string> Exceeded(const Limits& limits, const training::Errors& errors);

}  // namespace kepler::lab::judging
