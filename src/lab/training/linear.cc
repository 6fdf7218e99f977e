// linear, ridge, non-negative and polynomial, by least squares with a free intercept on features that are scaled to
// [-1, 1], and the nearest neighbors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Dense>

#include "lab/training/fits.h"

namespace kepler::lab::training {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Below this deviation, of values up to 1, a column holds the rounding of one number.
constexpr double kMinDeviation = 1e-12;

/// Columns with their mean taken out and of unit length: neither offset nor unit of a feature decides what is kept.
struct Standard {
  Eigen::MatrixXd columns;
  Eigen::VectorXd labels;
  Eigen::VectorXd means;
  Eigen::VectorXd lengths;  // 0 for a column that does not vary, which is all 0 then
  double label_mean = 0;
};

Standard Standardize(const Matrix& scaled, std::span<const double> labels) {
  const auto rows = static_cast<Eigen::Index>(labels.size());
  const auto columns = static_cast<Eigen::Index>(scaled.columns);
  const Eigen::Map<const Eigen::VectorXd> y(labels.data(), rows);
  Standard s;
  s.columns = Eigen::Map<const RowMajor>(scaled.values.data(), rows, columns);
  s.means = s.columns.colwise().mean();
  s.columns.rowwise() -= s.means.transpose();
  s.lengths = s.columns.colwise().norm();
  const double least = kMinDeviation * std::sqrt(static_cast<double>(rows));
  for (Eigen::Index j = 0; j < columns; ++j) {
    if (s.lengths[j] > least) {
      s.columns.col(j) /= s.lengths[j];
    } else {
      s.columns.col(j).setZero();
      s.lengths[j] = 0;
    }
  }
  s.label_mean = y.mean();
  s.labels = y.array() - s.label_mean;
  return s;
}

model::Linear Unstandardize(const Standard& s, const Eigen::VectorXd& solution) {
  const Eigen::ArrayXd varies = (s.lengths.array() > 0).cast<double>();
  const Eigen::VectorXd weights = solution.array() * varies / (s.lengths.array() + (1 - varies));
  return {.bias = s.label_mean - weights.dot(s.means), .weights = {weights.begin(), weights.end()}};
}

/// The penalty as rows below the samples, so that QR needs no normal equations, whose condition is squared.
Eigen::VectorXd SolvePenalized(const Standard& s, double alpha) {
  const Eigen::Index rows = s.columns.rows();
  const Eigen::Index columns = s.columns.cols();
  Eigen::MatrixXd stacked = Eigen::MatrixXd::Zero(rows + columns, columns);
  stacked.topRows(rows) = s.columns;
  for (Eigen::Index j = 0; j < columns; ++j)
    stacked(rows + j, j) = s.lengths[j] > 0 ? std::sqrt(alpha) / s.lengths[j] : 1;
  Eigen::VectorXd targets = Eigen::VectorXd::Zero(rows + columns);
  targets.head(rows) = s.labels;
  return Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>>(stacked).solve(targets);
}

/// Least squares over the columns in `passive` only; 0 for the others.
Eigen::VectorXd SolvePassive(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                             const std::vector<Eigen::Index>& passive) {
  const Eigen::MatrixXd part = a(Eigen::all, passive);
  const Eigen::VectorXd found = part.colPivHouseholderQr().solve(b);
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(a.cols());
  for (size_t i = 0; i < passive.size(); ++i) solution[passive[i]] = found[static_cast<Eigen::Index>(i)];
  return solution;
}

/// From `x`, which is feasible, towards `target`, as far as nothing turns negative; what arrives at 0 leaves `passive`.
void StepTowards(const Eigen::VectorXd& target, Eigen::VectorXd& x, std::vector<Eigen::Index>& passive) {
  double step = 1;
  for (const Eigen::Index j : passive)
    if (target[j] <= 0) step = std::min(step, x[j] / (x[j] - target[j]));
  x += step * (target - x);
  std::erase_if(passive, [&](Eigen::Index j) {
    const bool out = target[j] <= 0 && x[j] <= 1e-14 * (1 + std::abs(target[j]));
    if (out) x[j] = 0;
    return out;
  });
}

Eigen::VectorXd LawsonHanson(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  const Eigen::Index columns = a.cols();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(columns);
  std::vector<Eigen::Index> passive;
  const double tolerance = 1e-10 * b.norm();
  // Each round lowers the residual, so that no set comes twice; rounding may undo that, hence the bound.
  for (Eigen::Index round = 0; round < 3 * columns; ++round) {
    Eigen::VectorXd gradient = a.transpose() * (b - a * x);
    for (const Eigen::Index j : passive) gradient[j] = 0;
    Eigen::Index best = 0;
    if (gradient.maxCoeff(&best) <= tolerance) break;
    passive.push_back(best);
    Eigen::VectorXd target = SolvePassive(a, b, passive);
    while (!passive.empty() && target(passive).minCoeff() <= 0) {
      const size_t before = passive.size();
      StepTowards(target, x, passive);
      if (passive.size() == before) return x;
      if (!passive.empty()) target = SolvePassive(a, b, passive);
    }
    if (passive.empty()) break;
    x = target;
  }
  return x;
}

/// Minimises Σ(bias + weight·x − label)² + alpha·|weight|². Columns that do not vary have weight 0. With alpha 0 and
/// columns that depend on each other the solution of least norm is taken, after each column is divided by its
/// deviation.
model::Linear SolveLeastSquares(const Matrix& scaled, std::span<const double> labels, double alpha) {
  const Standard s = Standardize(scaled, labels);
  return Unstandardize(s, alpha > 0 ? SolvePenalized(s, alpha)
                                    : Eigen::VectorXd(s.columns.completeOrthogonalDecomposition().solve(s.labels)));
}

/// The same with alpha 0 and no weight below 0; the bias is free. After Lawson and Hanson, Solving Least Squares
/// Problems (1974), chapter 23.
model::Linear SolveNonNegative(const Matrix& scaled, std::span<const double> labels) {
  const Standard s = Standardize(scaled, labels);
  if (s.columns.rows() <= s.columns.cols()) return Unstandardize(s, LawsonHanson(s.columns, s.labels));
  // The triangle of QR poses the same problem with as many rows as columns.
  const Eigen::Index columns = s.columns.cols();
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(s.columns);
  const Eigen::MatrixXd triangle = qr.matrixQR().topRows(columns).triangularView<Eigen::Upper>();
  const Eigen::VectorXd turned = qr.householderQ().adjoint() * s.labels;
  return Unstandardize(s, LawsonHanson(triangle, turned.head(columns)));
}

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
