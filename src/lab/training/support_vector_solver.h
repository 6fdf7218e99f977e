#pragma once
// Solver for epsilon support vector regression with a radial kernel. Blocking, re-entrant.
#include <cstddef>
#include <span>
#include <vector>

#include "lab/training/samples.h"

namespace kepler::lab::training {

struct RadialRegression {
  double c = 1;                         // largest |coefficient|
  double epsilon = 0;                   // watts: a smaller error costs nothing
  double gamma = 1;                     // the kernel of x and y is e^(−gamma·|x − y|²)
  size_t max_kernel_bytes = 200000000;  // for kernel values; what does not fit is computed again
};

struct SupportVectorSolution {
  std::vector<double> coefficients;  // one per row, −c to c, with sum 0; 0 for a row that is not a support vector
  double bias = 0;
};

/// Solves the dual problem up to a violation of its conditions by 0.001 W, as libsvm does. Pairs of rows are chosen by
/// the second-order rule of Fan, Chen and Lin, "Working set selection using second order information for training
/// support vector machines" (2005). Needs at least one row.
[[nodiscard]] SupportVectorSolution SolveSupportVectors(const Matrix& rows, std::span<const double> labels,
                                                        const RadialRegression& problem);

}  // namespace kepler::lab::training
