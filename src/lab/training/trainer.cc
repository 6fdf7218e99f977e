#include "lab/training/trainer.h"

#include <algorithm>

#include "lab/training/fits.h"

namespace kepler::lab::training {
namespace {

constexpr Trainer kTrainers[] = {
    {.name = "linear",
     .upstream_name = "",
     .description = "least squares with an intercept: few rows, and loads beyond those of training",
     .fit = FitLinear},
    {.name = "non-negative",
     .upstream_name = "LinearRegressionTrainer",
     .description = "least squares, no feature may lower the power",
     .fit = FitNonNegative},
    {.name = "ridge",
     .upstream_name = "",
     .description = "least squares with small weights: features that say the same",
     .fit = FitRidge},
    {.name = "sgd",
     .upstream_name = "SGDRegressorTrainer",
     .description = "a linear model by stochastic gradient descent",
     .fit = FitSgd},
    {.name = "polynomial",
     .upstream_name = "PolynomialRegressionTrainer",
     .description = "degree two with products, held within the range of training",
     .fit = FitPolynomial},
    {.name = "exponential",
     .upstream_name = "ExponentialRegressionTrainer",
     .description = "one feature through a*e^(b*x) + c",
     .fit = FitExponential},
    {.name = "logarithmic",
     .upstream_name = "LogarithmicRegressionTrainer",
     .description = "one feature through a*ln(b*x + 1) + c",
     .fit = FitLogarithmic},
    {.name = "logistic",
     .upstream_name = "LogisticRegressionTrainer",
     .description = "one feature through an S-curve",
     .fit = FitLogistic},
    {.name = "knn",
     .upstream_name = "KNeighborsRegressorTrainer",
     .description = "the mean of the nearest rows of training, which are the model",
     .fit = FitNeighbors},
    {.name = "svr",
     .upstream_name = "SVRRegressorTrainer",
     .description = "support vectors with a radial kernel; slow beyond some thousand rows",
     .fit = FitSupportVectors},
    {.name = "gradient-boosting",
     .upstream_name = "GradientBoostingRegressorTrainer",
     .description = "shallow trees, each for what the ones before left over",
     .fit = FitGradientBoosting},
    {.name = "xgboost", .upstream_name = "XgboostFitTrainer", .description = "XGBoost's trees", .fit = FitXgboost},
    {.name = "monotone",
     .upstream_name = "",
     .description = "gradient boosting in which more of any feature never means fewer watts",
     .fit = FitMonotoneBoosting},
    {.name = "linear-boosting",
     .upstream_name = "",
     .description = "monotone boosting on top of a share of a line: loads and mixtures that training has not seen",
     .fit = FitLinearBoosting},
    {.name = "random-forest",
     .upstream_name = "",
     .description = "the mean of deep trees, each of a random part of the rows",
     .fit = FitRandomForest},
};

}  // namespace

std::span<const Trainer> Trainers() { return kTrainers; }

const Trainer* FindTrainer(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find_if(
      kTrainers, [&](const Trainer& trainer) { return trainer.name == name || trainer.upstream_name == name; });
  return found == std::end(kTrainers) ? nullptr : found;
}

}  // namespace kepler::lab::training
