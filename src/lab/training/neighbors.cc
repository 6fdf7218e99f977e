#include <algorithm>
#include <utility>

#include "lab/training/fits.h"
#include "lab/training/fitting.h"

namespace kepler::lab::training {

Result<model::Predictor> FitNeighbors(const Samples& samples, const TrainerOptions& options) {
  static constexpr Parameter kKnown[] = {
      {.name = "k", .fallback = 6, .min = 1, .max = model::kMaxNeighbors, .whole = true}};
  KEPLER_TRY(const auto parameters, ReadParameters(options, kKnown));
  KEPLER_CHECK_OK(CheckSamples(samples));
  auto scale = MaxAbsScale(samples.features);
  const size_t k = std::min(static_cast<size_t>(parameters[0]), samples.labels.size());
  model::Neighbors formula{
      .k = static_cast<uint32_t>(k), .points = Scaled(samples.features, scale).values, .labels = samples.labels};
  return Checked({.limits = {}, .scale = std::move(scale), .formula = std::move(formula)}, samples);
}

}  // namespace kepler::lab::training
