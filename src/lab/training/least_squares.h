#pragma once
// Linear least squares with a free intercept, on features that are scaled to [-1, 1]: the arithmetic of several
// trainers. Pure.
#include "lab/training/samples.h"
#include "model/predictor.h"

namespace kepler::lab::training {

/// Minimises Σ(bias + weight·x − label)² + alpha·|weight|². Columns that do not vary have weight 0. With alpha 0 and
/// columns that depend on each other the solution of least norm is taken, after each column is divided by its
/// deviation.
[[nodiscard]] model::Linear SolveLeastSquares(const Matrix& scaled, std::span<const double> labels, double alpha);

/// The same with alpha 0 and no weight below 0; the bias is free. After Lawson and Hanson, Solving Least Squares
/// Problems (1974), chapter 23.
[[nodiscard]] model::Linear SolveNonNegative(const Matrix& scaled, std::span<const double> labels);

}  // namespace kepler::lab::training
