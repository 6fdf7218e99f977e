#pragma once
// Boosted trees by libxgboost, one thread each. Private to training: trainer.h lists them. Values are rounded to floats
// before anything else, as when they are predicted. What is trained is read back from XGBoost's JSON, so that no second
// reader has to agree. Errors: kInvalid for options and samples that make no sense.
#include "base/result.h"
#include "lab/training/samples.h"
#include "lab/training/trainer.h"
#include "model/predictor.h"

namespace kepler::lab::training {

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

}  // namespace kepler::lab::training
