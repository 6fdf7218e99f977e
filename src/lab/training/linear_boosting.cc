#include <utility>

#include "lab/training/boosting.h"
#include "lab/training/fits.h"

namespace kepler::lab::training {
namespace {

/// How much of the linear model is in the sum. It carries the power on beyond the loads of training, where trees stay
/// flat; more of it spoils what lies between.
constexpr double kLinearShare = 0.3;

}  // namespace

Result<model::Predictor> FitLinearBoosting(const Samples& samples, const TrainerOptions& options) {
  KEPLER_TRY(auto linear, FitNonNegative(samples, {}));
  Samples rest = samples;
  for (size_t row = 0; row < rest.labels.size(); ++row) {
    const double explained = kLinearShare * model::Predict(linear, rest.features.row(row));
    rest.labels[row] = (rest.labels[row] - explained) / (1 - kLinearShare);
  }
  TrainerOptions with_defaults = options;
  with_defaults.parameters.try_emplace("depth", 4);
  with_defaults.parameters.try_emplace("min_child_weight", 5);
  KEPLER_TRY(auto trees, FitMonotoneBoosting(rest, with_defaults));
  model::Blend blend{.weights = {kLinearShare, 1 - kLinearShare}, .parts = {}};
  blend.parts.push_back(std::move(linear));
  blend.parts.push_back(std::move(trees));
  return model::Predictor{.limits = {}, .scale = {}, .formula = std::move(blend)};
}

}  // namespace kepler::lab::training
