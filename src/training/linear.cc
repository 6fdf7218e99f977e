// linear, ridge and non-negative.
#include <utility>

#include "training/fits.h"
#include "training/fitting.h"
#include "training/least_squares.h"

namespace kepler::training {

Result<model::Predictor> FitLinear(const Samples& samples, const TrainerOptions& options) {
  KEPLER_TRY(const auto none, ReadParameters(options, {}));
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  auto formula = SolveLeastSquares(Scaled(samples.features, scale), samples.labels, 0);
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

Result<model::Predictor> FitNonNegative(const Samples& samples, const TrainerOptions& options) {
  KEPLER_TRY(const auto none, ReadParameters(options, {}));
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  auto formula = SolveNonNegative(Scaled(samples.features, scale), samples.labels);
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

Result<model::Predictor> FitRidge(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {{.name = "alpha", .fallback = 1, .min = 0, .max = 1e12}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  auto formula = SolveLeastSquares(Scaled(samples.features, scale), samples.labels, parameters[0]);
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

}  // namespace kepler::training
