#pragma once
// The trainers, for the list in trainer.cc: what each computes and its hyper-parameters, and what all have in common.
// All but trees fit on features that are divided by their largest absolute value; all errors are kInvalid. Blocking,
// re-entrant.
#include <span>
#include <string_view>
#include <vector>

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

/// XGBoost's own defaults with the learning rate of Kepler's trainer: as from 2.0 on it begins at the mean, and looks
/// for thresholds among 256 bins of each feature (`bins`; 0: every value is tried).
[[nodiscard]] Result<model::Predictor> FitXgboost(const Samples& samples, const TrainerOptions& options);

/// Friedman's gradient boosting with the defaults of scikit-learn's GradientBoostingRegressor: no penalty on leaves,
/// and every value is tried as a threshold.
[[nodiscard]] Result<model::Predictor> FitGradientBoosting(const Samples& samples, const TrainerOptions& options);

/// The same, but more of any feature never means fewer watts.
[[nodiscard]] Result<model::Predictor> FitMonotoneBoosting(const Samples& samples, const TrainerOptions& options);

/// 0.3 of a linear model without negative weights, and monotone boosting (depth 4, min_child_weight 5) of the rest: the
/// line carries the power on beyond the loads of training, where trees stay flat. The parameters are those of boosting.
[[nodiscard]] Result<model::Predictor> FitLinearBoosting(const Samples& samples, const TrainerOptions& options);

/// The mean of deep trees, each of a random part of the rows.
[[nodiscard]] Result<model::Predictor> FitRandomForest(const Samples& samples, const TrainerOptions& options);

/// A hyper-parameter that a trainer knows.
struct Parameter {
  std::string_view name;  // "alpha"
  double fallback;
  double min;
  double max;
  bool whole = false;
};

/// Error of CheckSamples() for no rows. A fit checks its parameters first.
inline constexpr std::string_view kNoRows = "no rows to train on";

/// In the error about an unknown name, before the known ones with their defaults.
inline constexpr std::string_view kKnownParameters = "; known, with defaults: ";

/// One value for each of `known`, in their order. An unknown name or a value out of bounds is kInvalid.
[[nodiscard]] Result<std::vector<double>> ReadParameters(const TrainerOptions& options,
                                                         std::span<const Parameter> known);

/// What every trainer needs: 1 to model::kMaxFeatures columns, at least one row, a label for each, all finite, and no
/// label beyond a terawatt (whose squares would leave the range of numbers); else kInvalid.
[[nodiscard]] Status CheckSamples(const Samples& samples);

/// The largest |value| of each column, by which MaxAbs scaling divides.
[[nodiscard]] std::vector<double> MaxAbsScale(const Matrix& matrix);

/// The range of each column.
[[nodiscard]] std::vector<model::Range> RangesOf(const Matrix& matrix);

/// Each column divided by its scale, as Predict() does it: 0 where that is 0.
[[nodiscard]] Matrix Scaled(Matrix matrix, std::span<const double> scale);

/// The predictor as it is where model::Check() passes it; else the numbers of the fit left the range: kInvalid.
[[nodiscard]] Result<model::Predictor> Checked(model::Predictor predictor, const Samples& samples);

}  // namespace kepler::lab::training
