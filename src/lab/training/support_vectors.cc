#include <numeric>
#include <utility>

#include "lab/training/fits.h"
#include "lab/training/support_vector_solver.h"

namespace kepler::lab::training {
namespace {

/// 1 / (features × variance of all values); 1 where they do not vary.
double GammaByVariance(const Matrix& matrix) {
  const auto count = static_cast<double>(matrix.values.size());
  const double mean = std::accumulate(matrix.values.begin(), matrix.values.end(), 0.0) / count;
  double variance = 0;
  for (const double value : matrix.values) variance += (value - mean) * (value - mean) / count;
  return variance > 1e-24 ? 1 / (static_cast<double>(matrix.columns) * variance) : 1;
}

model::SupportVectors FormulaOf(const SupportVectorSolution& solution, const Matrix& scaled, double gamma) {
  model::SupportVectors formula{.gamma = gamma, .bias = solution.bias, .vectors = {}, .coefficients = {}};
  for (size_t i = 0; i < scaled.rows(); ++i) {
    if (solution.coefficients[i] == 0) continue;
    const auto row = scaled.row(i);
    formula.vectors.insert(formula.vectors.end(), row.begin(), row.end());
    formula.coefficients.push_back(solution.coefficients[i]);
  }
  return formula;
}

}  // namespace

Result<model::Predictor> FitSupportVectors(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {{.name = "C", .fallback = 1, .min = 1e-6, .max = 1e6},
                                         {.name = "epsilon", .fallback = 0.2, .min = 0, .max = 1e6},
                                         {.name = "gamma", .fallback = 0, .min = 0, .max = 1e6}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  const Matrix scaled = Scaled(samples.features, scale);
  const double gamma = parameters[2] > 0 ? parameters[2] : GammaByVariance(scaled);
  const auto solution =
      SolveSupportVectors(scaled, samples.labels, {.c = parameters[0], .epsilon = parameters[1], .gamma = gamma});
  return Checked({.limits = {}, .scale = std::move(scale), .formula = FormulaOf(solution, scaled, gamma)}, samples);
}

}  // namespace kepler::lab::training
