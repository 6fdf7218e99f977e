// linear, ridge, non-negative and polynomial, by least squares, and the nearest neighbors.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lab/training/fits.h"
#include "lab/training/fitting.h"
#include "lab/training/least_squares.h"

namespace kepler::lab::training {
namespace {

/// 1 GiB, several times over while it is solved.
constexpr size_t kMaxTerms = size_t{1} << 27;

/// Every value, then every product, in the order of model::Polynomial.
Matrix WithProducts(const Matrix& matrix) {
  const size_t n = matrix.columns;
  Matrix terms{.columns = n + n * (n + 1) / 2, .values = {}};
  terms.values.reserve(terms.columns * matrix.rows());
  for (size_t i = 0; i < matrix.rows(); ++i) {
    const auto row = matrix.row(i);
    terms.values.insert(terms.values.end(), row.begin(), row.end());
    for (size_t j = 0; j < n; ++j)
      for (size_t k = j; k < n; ++k) terms.values.push_back(row[j] * row[k]);
  }
  return terms;
}

/// A linear model of the features between -1 and 1.
template <class Solve>
Result<model::Predictor> FitScaled(const Samples& samples, const Solve& solve) {
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  model::Linear formula = solve(Scaled(samples.features, scale));
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

}  // namespace

Result<model::Predictor> FitLinear(const Samples& samples, const TrainerOptions& options) {
  KEPLER_TRY(const auto none, ReadParameters(options, {}));
  return FitScaled(samples, [&](const Matrix& scaled) { return SolveLeastSquares(scaled, samples.labels, 0); });
}

Result<model::Predictor> FitNonNegative(const Samples& samples, const TrainerOptions& options) {
  KEPLER_TRY(const auto none, ReadParameters(options, {}));
  return FitScaled(samples, [&](const Matrix& scaled) { return SolveNonNegative(scaled, samples.labels); });
}

Result<model::Predictor> FitRidge(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {{.name = "alpha", .fallback = 1, .min = 0, .max = 1e12}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  return FitScaled(samples,
                   [&](const Matrix& scaled) { return SolveLeastSquares(scaled, samples.labels, parameters[0]); });
}

Result<model::Predictor> FitPolynomial(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {{.name = "alpha", .fallback = 0.001, .min = 1e-9, .max = 1e12}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  const size_t n = samples.features.columns;
  const size_t terms = n + n * (n + 1) / 2;
  if (samples.labels.size() > kMaxTerms / terms)
    return Fail(ErrorKind::kInvalid, fmt::format("{} rows of {} terms do not fit into memory; use at most {} rows",
                                                 samples.labels.size(), terms, kMaxTerms / terms));
  auto scale = MaxAbsScale(samples.features);
  auto linear = SolveLeastSquares(WithProducts(Scaled(samples.features, scale)), samples.labels, parameters[0]);
  const auto border = linear.weights.begin() + static_cast<std::ptrdiff_t>(n);
  model::Polynomial formula{
      .bias = linear.bias, .weights = {linear.weights.begin(), border}, .products = {border, linear.weights.end()}};
  return Checked({.limits = RangesOf(samples.features), .scale = std::move(scale), .formula = std::move(formula)},
                 samples);
}

Result<model::Predictor> FitNeighbors(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {
      {.name = "k", .fallback = 6, .min = 1, .max = model::kMaxNeighbors, .whole = true}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  const size_t k = std::min(static_cast<size_t>(parameters[0]), samples.labels.size());
  model::Neighbors formula{
      .k = static_cast<uint32_t>(k), .points = Scaled(samples.features, scale).values, .labels = samples.labels};
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

}  // namespace kepler::lab::training
