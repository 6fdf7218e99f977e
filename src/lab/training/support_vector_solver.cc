#include "lab/training/support_vector_solver.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Eigen/Dense>

namespace kepler::lab::training {
namespace {

using Eigen::Index;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Maximum violation of the optimality conditions, in watts.
constexpr double kTolerance = 1e-3;
/// libsvm's limit, for a problem that converges too slowly.
constexpr int64_t kMaxSteps = 10'000'000;

/// Rows of the kernel matrix, computed at the first use. If the memory is full, a new row replaces the least recently
/// used row. Values are floats, as in libsvm: they need half of the memory and time of doubles.
class KernelRows {
 public:
  KernelRows(const Matrix& rows, const RadialRegression& problem)
      : columns_(Eigen::Map<const Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            rows.values.data(), static_cast<Index>(rows.rows()), static_cast<Index>(rows.columns))),
        gamma_(problem.gamma),
        free_(std::max<size_t>(2, problem.max_kernel_bytes / (sizeof(float) * static_cast<size_t>(columns_.rows())))),
        kernel_(rows.rows()),
        last_used_(rows.rows(), kNever) {}

  /// The returned row stays valid during the next call.
  const Eigen::ArrayXf& Of(Index i) {
    const auto row = static_cast<size_t>(i);
    if (last_used_[row] == kNever) {
      if (free_ > 0) {
        --free_;
      } else {
        const auto oldest = static_cast<size_t>(std::ranges::min_element(last_used_) - last_used_.begin());
        kernel_[row].swap(kernel_[oldest]);
        last_used_[oldest] = kNever;
      }
      Compute(i, kernel_[row]);
    }
    last_used_[row] = ++uses_;
    return kernel_[row];
  }

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

  void Compute(Index i, Eigen::ArrayXf& row) {
    exponents_ = (columns_.col(0) - columns_(i, 0)).square();
    for (Index j = 1; j < columns_.cols(); ++j) exponents_ += (columns_.col(j) - columns_(i, j)).square();
    row = (-gamma_ * exponents_).cast<float>();
    row = row.exp();  // a statement of its own: Eigen 3.4 does not vectorize expressions that convert
  }

  Eigen::ArrayXXd columns_;
  double gamma_;
  size_t free_;  // number of further rows that fit into memory
  std::vector<Eigen::ArrayXf> kernel_;
  std::vector<uint64_t> last_used_;
  uint64_t uses_ = 0;
  Eigen::ArrayXd exponents_;
};

/// Eigen 3.4 vectorizes maxCoeff() only without the index.
template <class Array>
Index Largest(const Array& values) {
  return std::find(values.data(), values.data() + values.size(), values.maxCoeff()) - values.data();
}

/// Coordinate descent on the dual loss. Its slope by a coefficient is the error of the row plus epsilon above 0, and
/// the error minus epsilon below 0. A slope that leads out of the bounds is infinite.
class DualDescent {
 public:
  DualDescent(const Matrix& rows, std::span<const double> labels, const RadialRegression& problem)
      : problem_(problem),
        kernel_(rows, problem),
        error_(-Eigen::Map<const Eigen::ArrayXd>(labels.data(), static_cast<Index>(labels.size()))),
        coefficient_(Eigen::ArrayXd::Zero(error_.size())),
        up_(Eigen::ArrayXd::Constant(error_.size(), -problem.epsilon)),
        down_(Eigen::ArrayXd::Constant(error_.size(), problem.epsilon)) {}

  /// Raises one coefficient and lowers another one, so the sum stays 0. Returns false at the solution.
  bool Step() {
    gains_ = up_ - error_;
    const Index up = Largest(gains_);
    const double gain = gains_[up];
    if (gain - (down_ - error_).minCoeff() < kTolerance) return false;
    const Eigen::ArrayXf& up_row = kernel_.Of(up);
    // Twice the decrease of the loss with each row as the partner of `up`.
    drops_ = (gain - down_ + error_).cast<float>();
    drops_ = drops_.max(0).square() / (2 - 2 * up_row).max(kMinCurvature);
    const Index down = Largest(drops_);
    const Eigen::ArrayXf& down_row = kernel_.Of(down);
    const double step = std::min({(gain - down_[down] + error_[down]) / std::max(kMinCurvature, 2 - 2 * up_row[down]),
                                  Bound(up, 1) - coefficient_[up], coefficient_[down] - Bound(down, -1)});
    const double raised = Move(up, step, 1);
    const double lowered = Move(down, step, -1);
    for (Index i = 0; i < error_.size(); ++i)
      error_[i] += raised * static_cast<double>(up_row[i]) + lowered * static_cast<double>(down_row[i]);
    return true;
  }

  [[nodiscard]] SupportVectorSolution Solution() const {
    return {.coefficients = {coefficient_.begin(), coefficient_.end()}, .bias = Bias()};
  }

 private:
  /// Replaces the curvature for a pair of equal rows, which is 0.
  static constexpr float kMinCurvature = 1e-12F;

  /// The value at which the slope jumps next, upwards if `sign` is 1, downwards if -1.
  [[nodiscard]] double Bound(Index i, double sign) const { return coefficient_[i] * sign < 0 ? 0 : sign * problem_.c; }

  /// Returns the change of the coefficient. A step to the bound sets exactly the bound.
  double Move(Index i, double step, double sign) {
    const double before = coefficient_[i];
    const double bound = Bound(i, sign);
    const bool arrives = step >= (bound - before) * sign;
    const double after = arrives ? bound : before + sign * step;
    coefficient_[i] = after;
    up_[i] = after >= problem_.c ? -kInfinity : after < 0 ? problem_.epsilon : -problem_.epsilon;
    down_[i] = after <= -problem_.c ? kInfinity : after > 0 ? -problem_.epsilon : problem_.epsilon;
    return after - before;
  }

  /// A row between 0 and a bound lies at a distance of epsilon from the curve. Returns the mean of the biases that
  /// these rows need. Without such rows, returns the middle of the allowed range.
  [[nodiscard]] double Bias() const {
    double sum = 0;
    int between = 0;
    for (Index i = 0; i < error_.size(); ++i) {
      if (coefficient_[i] == 0 || std::abs(coefficient_[i]) >= problem_.c) continue;
      sum += up_[i] - error_[i];
      ++between;
    }
    return between > 0 ? sum / between : ((up_ - error_).maxCoeff() + (down_ - error_).minCoeff()) / 2;
  }

  RadialRegression problem_;
  KernelRows kernel_;
  Eigen::ArrayXd error_;  // Σ coefficient·kernel − label, without the bias
  Eigen::ArrayXd coefficient_;
  Eigen::ArrayXd up_;    // minus the slope towards a larger coefficient, without the error
  Eigen::ArrayXd down_;  // minus the slope towards a smaller coefficient, without the error
  Eigen::ArrayXd gains_;
  Eigen::ArrayXf drops_;
};

}  // namespace

SupportVectorSolution SolveSupportVectors(const Matrix& rows, std::span<const double> labels,
                                          const RadialRegression& problem) {
  DualDescent descent(rows, labels, problem);
  for (int64_t step = 0; step < kMaxSteps && descent.Step(); ++step) {
  }
  return descent.Solution();
}

}  // namespace kepler::lab::training
