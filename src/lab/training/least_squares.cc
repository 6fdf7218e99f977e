#include "lab/training/least_squares.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

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

}  // namespace

model::Linear SolveLeastSquares(const Matrix& scaled, std::span<const double> labels, double alpha) {
  const Standard s = Standardize(scaled, labels);
  return Unstandardize(s, alpha > 0 ? SolvePenalized(s, alpha)
                                    : Eigen::VectorXd(s.columns.completeOrthogonalDecomposition().solve(s.labels)));
}

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

}  // namespace kepler::lab::training
