#include "lab/training/trainer.h"

#include <malloc.h>

#include <algorithm>

#include "lab/training/fits.h"
#include "model/features.h"

namespace kepler::lab::training {
namespace {

constexpr Trainer kTrainers[] = {
    {.name = "linear",
     .upstream_name = "",
     .description = "least squares with an intercept: for few rows, and loads beyond training",
     .fit = FitLinear},
    {.name = "non-negative",
     .upstream_name = "LinearRegressionTrainer",
     .description = "least squares with non-negative weights",
     .fit = FitNonNegative},
    {.name = "ridge",
     .upstream_name = "",
     .description = "least squares with small weights: for correlated features",
     .fit = FitRidge},
    {.name = "sgd",
     .upstream_name = "SGDRegressorTrainer",
     .description = "a linear model by stochastic gradient descent",
     .fit = FitSgd},
    {.name = "polynomial",
     .upstream_name = "PolynomialRegressionTrainer",
     .description = "polynomial of degree two with products, limited to the training range",
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
     .description = "the mean of the nearest training rows, which are stored in the model",
     .fit = FitNeighbors},
    {.name = "svr",
     .upstream_name = "SVRRegressorTrainer",
     .description = "support vector regression with a radial kernel; slow above some thousand rows",
     .fit = FitSupportVectors},
    {.name = "gradient-boosting",
     .upstream_name = "GradientBoostingRegressorTrainer",
     .description = "shallow trees, each fitted to the residuals of the previous ones",
     .fit = FitGradientBoosting},
    {.name = "xgboost", .upstream_name = "XgboostFitTrainer", .description = "XGBoost's trees", .fit = FitXgboost},
    {.name = "monotone",
     .upstream_name = "",
     .description = "gradient boosting in which watts never decrease with any feature",
     .fit = FitMonotoneBoosting},
    {.name = "linear-boosting",
     .upstream_name = "",
     .description = "monotone boosting on a part of a linear model: for unseen loads and mixtures",
     .fit = FitLinearBoosting},
    {.name = "random-forest",
     .upstream_name = "",
     .description = "the mean of deep trees, each trained on a random part of the rows",
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

void KeepMemoryForFits() { ::mallopt(M_TRIM_THRESHOLD, 64 << 20); }

Status CheckParameters(const Trainer& trainer, const TrainerOptions& options) {
  Samples none;
  none.features.columns = model::kMaxFeatures;
  const auto refused = trainer.fit(none, options);
  if (refused || refused.error().message == kNoRows) return {};
  return std::unexpected(refused.error());
}

std::string ParametersOf(const Trainer& trainer) {
  // Only the fit knows them, and names them when it refuses another one.
  Samples few;
  few.labels = {1, 2, 3, 4, 5};
  few.features = {.columns = 1, .values = few.labels};
  const auto refused = trainer.fit(few, {.parameters = {{"", 0}}});
  const std::string_view why = refused ? std::string_view() : refused.error().message;
  const size_t found = why.find(kKnownParameters);
  return std::string(found == std::string_view::npos ? "none" : why.substr(found + kKnownParameters.size()));
}

}  // namespace kepler::lab::training
