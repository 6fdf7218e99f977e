// linear, ridge and non-negative.
#include <utility>

#include "lab/training/fits.h"
#include "lab/training/fitting.h"
#include "lab/training/least_squares.h"

namespace kepler::lab::training {

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

}  // namespace kepler::lab::training
