// exponential, logarithmic and logistic, by Levenberg and Marquardt's method.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <Eigen/Dense>
#include <unsupported/Eigen/LevenbergMarquardt>

#include "lab/training/fits.h"

namespace kepler::lab::training {
namespace {

using Shape = model::Curve::Shape;
using Weights = std::array<double, 4>;

/// One feature, scaled, against the label from 0 to 1: so the same start and tolerances fit all units.
struct Points {
  std::vector<double> x;
  std::vector<double> y;
};

Eigen::Index WeightCount(Shape shape) { return shape == Shape::kLogistic ? 4 : 3; }

/// ln(w1·x + 1) ends at w1·x = -1: the search is kept on this side.
double Argument(double w1, double x) { return std::max(w1 * x + 1, 1e-9); }
/// e^100 is further than any fit may go, and its square is still a number.
double Exponential(double exponent) { return std::exp(std::clamp(exponent, -100.0, 100.0)); }

double ValueAt(Shape shape, const Weights& w, double x) {
  switch (shape) {
    case Shape::kExponential:
      return w[0] * Exponential(w[1] * x) + w[2];
    case Shape::kLogarithmic:
      return w[0] * std::log(Argument(w[1], x)) + w[2];
    case Shape::kLogistic:
      return w[0] / (1 + Exponential(-w[2] * (x - w[1]))) + w[3];
  }
  return 0;
}

/// The derivative by each weight.
Weights SlopesAt(Shape shape, const Weights& w, double x) {
  switch (shape) {
    case Shape::kExponential: {
      const double e = Exponential(w[1] * x);
      return {e, w[0] * x * e, 1, 0};
    }
    case Shape::kLogarithmic: {
      const double argument = Argument(w[1], x);
      return {std::log(argument), w[0] * x / argument, 1, 0};
    }
    case Shape::kLogistic: {
      const double s = 1 / (1 + Exponential(-w[2] * (x - w[1])));
      const double slope = w[0] * s * (1 - s);
      return {s, -slope * w[2], slope * (x - w[1]), 1};
    }
  }
  return {};
}

class Residuals : public Eigen::DenseFunctor<double> {
 public:
  Residuals(Shape shape, const Points& points)
      : DenseFunctor(static_cast<int>(WeightCount(shape)), static_cast<int>(points.x.size())),
        shape_(shape),
        points_(points) {}

  int operator()(const InputType& w, ValueType& residuals) const {
    const Weights weights = Fixed(w);
    for (size_t i = 0; i < points_.x.size(); ++i)
      residuals[static_cast<Eigen::Index>(i)] = ValueAt(shape_, weights, points_.x[i]) - points_.y[i];
    return 0;
  }
  int df(const InputType& w, JacobianType& jacobian) const {  // NOLINT(readability-identifier-naming): Eigen's name
    const Weights weights = Fixed(w);
    for (size_t i = 0; i < points_.x.size(); ++i) {
      const Weights slopes = SlopesAt(shape_, weights, points_.x[i]);
      for (Eigen::Index j = 0; j < w.size(); ++j)
        jacobian(static_cast<Eigen::Index>(i), j) = slopes[static_cast<size_t>(j)];
    }
    return 0;
  }

  static Weights Fixed(const InputType& w) {
    Weights weights{};
    std::copy(w.begin(), w.end(), weights.begin());
    return weights;
  }

 private:
  Shape shape_;
  const Points& points_;
};

/// Those of Kepler's trainers, for a label from 0 to 1.
Weights StartOf(Shape shape, const Points& points) {
  constexpr double kInverseE = 0.36787944117144233;
  if (shape == Shape::kExponential) return {kInverseE, 1, -kInverseE, 0};
  if (shape == Shape::kLogarithmic) return {1, 1, 0, 0};
  const auto rows = static_cast<double>(points.y.size());
  const double mean = std::accumulate(points.y.begin(), points.y.end(), 0.0) / rows;
  double variance = 0;
  for (const double y : points.y) variance += (y - mean) * (y - mean) / rows;
  return {1, 0.5, 1 / std::sqrt(variance), 0};
}

struct CurveFit {
  uint32_t feature = 0;
  Weights w{};
  double squares = std::numeric_limits<double>::infinity();
};

/// By model::Curve's own formula, without the bounds of the search.
double SquaresOf(Shape shape, const Weights& w, const Points& points) {
  double squares = 0;
  for (size_t i = 0; i < points.x.size(); ++i) {
    const double x = points.x[i];
    if (shape == Shape::kLogarithmic && w[1] * x + 1 <= 1e-9) return std::numeric_limits<double>::infinity();
    const double exponent = shape == Shape::kExponential ? w[1] * x : w[2] * (x - w[1]);
    if (shape != Shape::kLogarithmic && std::abs(exponent) > 100) return std::numeric_limits<double>::infinity();
    const double error = ValueAt(shape, w, x) - points.y[i];
    squares += error * error;
  }
  return squares;
}

Weights Minimize(Shape shape, const Points& points) {
  const Weights start = StartOf(shape, points);
  Eigen::VectorXd w = Eigen::Map<const Eigen::VectorXd>(start.data(), WeightCount(shape));
  Residuals residuals(shape, points);
  Eigen::LevenbergMarquardt<Residuals> search(residuals);
  search.setFtol(1e-8);
  search.setXtol(1e-8);
  search.setMaxfev(300);  // where a curve wants to be a straight line it goes on for ever, for nothing
  search.minimize(w);
  return Residuals::Fixed(w);
}

/// The best over `features`; none where no feature is better than a constant.
std::optional<CurveFit> BestFit(Shape shape, const Matrix& scaled, std::span<const double> labels,
                                std::span<const uint32_t> features) {
  const double mean = std::accumulate(labels.begin(), labels.end(), 0.0) / static_cast<double>(labels.size());
  Points points{.x = std::vector<double>(labels.size()), .y = {labels.begin(), labels.end()}};
  std::optional<CurveFit> best;
  double least = 0;
  for (const double y : labels) least += (y - mean) * (y - mean);
  for (const uint32_t feature : features) {
    for (size_t i = 0; i < labels.size(); ++i) points.x[i] = scaled.row(i)[feature];
    const auto [low, high] = std::ranges::minmax(points.x);
    if (high - low < 1e-12) continue;
    const Weights w = Minimize(shape, points);
    const double squares = SquaresOf(shape, w, points);
    if (!(squares < least)) continue;  // nor NaN
    least = squares;
    best = CurveFit{.feature = feature, .w = w, .squares = squares};
  }
  return best;
}

/// From labels that were brought to 0 to 1 back to watts.
model::Curve InWatts(Shape shape, const CurveFit& fit, model::Range label) {
  model::Curve curve{.shape = shape, .feature = fit.feature, .w = fit.w};
  double& offset = curve.w[shape == Shape::kLogistic ? 3 : 2];
  curve.w[0] *= label.max - label.min;
  offset = offset * (label.max - label.min) + label.min;
  return curve;
}

model::Curve Flat(Shape shape, uint32_t feature, double watts) {
  model::Curve curve{.shape = shape, .feature = feature, .w = {}};
  curve.w[shape == Shape::kLogistic ? 3 : 2] = watts;
  return curve;
}

Result<std::vector<uint32_t>> Candidates(const TrainerOptions& options, size_t columns) {
  static constexpr Parameter kKnown[] = {{.name = "feature", .fallback = -1, .min = -1, .max = 63, .whole = true}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  if (parameters[0] >= static_cast<double>(columns))
    return Fail(ErrorKind::kInvalid,
                fmt::format("feature {} does not exist: there are {}, numbered from 0", parameters[0], columns));
  if (parameters[0] >= 0) return std::vector{static_cast<uint32_t>(parameters[0])};
  std::vector<uint32_t> all(columns);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

Result<model::Predictor> FitCurve(Shape shape, const Samples& samples, const TrainerOptions& options) {
  KEPLER_TRY(const auto candidates, Candidates(options, samples.features.columns));
  KEPLER_CHECK_OK(CheckSamples(samples));
  const auto needed = static_cast<size_t>(WeightCount(shape));
  if (samples.labels.size() < needed)
    return Fail(ErrorKind::kInvalid, fmt::format("{} rows; the curve has {} parameters and needs as many rows",
                                                 samples.labels.size(), needed));
  auto scale = MaxAbsScale(samples.features);
  const auto [low, high] = std::ranges::minmax(samples.labels);
  const double mean =
      std::accumulate(samples.labels.begin(), samples.labels.end(), 0.0) / static_cast<double>(samples.labels.size());
  model::Curve formula = Flat(shape, candidates.front(), mean);
  if (high > low) {
    std::vector<double> labels;
    labels.reserve(samples.labels.size());
    for (const double watts : samples.labels) labels.push_back((watts - low) / (high - low));
    if (const auto fit = BestFit(shape, Scaled(samples.features, scale), labels, candidates))
      formula = InWatts(shape, *fit, {.min = low, .max = high});
  }
  return Checked({.limits = RangesOf(samples.features), .scale = std::move(scale), .formula = formula}, samples);
}

}  // namespace

Result<model::Predictor> FitExponential(const Samples& samples, const TrainerOptions& options) {
  return FitCurve(Shape::kExponential, samples, options);
}
Result<model::Predictor> FitLogarithmic(const Samples& samples, const TrainerOptions& options) {
  return FitCurve(Shape::kLogarithmic, samples, options);
}
Result<model::Predictor> FitLogistic(const Samples& samples, const TrainerOptions& options) {
  return FitCurve(Shape::kLogistic, samples, options);
}

}  // namespace kepler::lab::training
