#pragma once
// The trainers that are no boosting, for the list in trainer.cc: what each computes and its hyper-parameters. All fit
// on features that are divided by their largest absolute value; all errors are kInvalid. Blocking, re-entrant.
#include "base/result.h"
#include "lab/training/samples.h"
#include "lab/training/trainer.h"
#include "model/predictor.h"

namespace kepler::lab::training {

/// Ordinary least squares with an intercept. No parameters.
[[nodiscard]] Result<model::Predictor> FitLinear(const Samples& samples, const TrainerOptions& options);

/// Least squares, no weight below 0; the intercept is free. No parameters.
[[nodiscard]] Result<model::Predictor> FitNonNegative(const Samples& samples, const TrainerOptions& options);

/// Least squares + alpha·|weight|². `alpha` 1.
[[nodiscard]] Result<model::Predictor> FitRidge(const Samples& samples, const TrainerOptions& options);

/// Stochastic gradient descent on squared error, for weight files like those of Kepler 0.7: `alpha` 0.0001 (L2), `eta0`
/// 0.01 and `power_t` 0.25 (the rate is eta0 / t^power_t), `max_iter` 1000 passes, `tol` 0.001. Shuffled by the seed.
[[nodiscard]] Result<model::Predictor> FitSgd(const Samples& samples, const TrainerOptions& options);

/// Degree two with all products; what is outside the range of training is held at its border. `alpha` 0.001: as for
/// ridge, so small that it decides only between terms that the rows cannot tell apart.
[[nodiscard]] Result<model::Predictor> FitPolynomial(const Samples& samples, const TrainerOptions& options);

/// One feature through a curve, held within the range of training: of all features the one that leaves the least
/// squared error, or `feature` (index; -1: the best). Fewer rows than the curve has parameters are an error.
[[nodiscard]] Result<model::Predictor> FitExponential(const Samples& samples, const TrainerOptions& options);
[[nodiscard]] Result<model::Predictor> FitLogarithmic(const Samples& samples, const TrainerOptions& options);
[[nodiscard]] Result<model::Predictor> FitLogistic(const Samples& samples, const TrainerOptions& options);

/// The mean of the `k` 6 nearest rows; of all rows where there are fewer.
[[nodiscard]] Result<model::Predictor> FitNeighbors(const Samples& samples, const TrainerOptions& options);

/// Epsilon support vector regression with a radial kernel: `C` 1, `epsilon` 0.2 W, `gamma` 0, which stands for
/// 1 / (features × variance of all their values). Time grows with the square of the rows and more.
[[nodiscard]] Result<model::Predictor> FitSupportVectors(const Samples& samples, const TrainerOptions& options);

}  // namespace kepler::lab::training
