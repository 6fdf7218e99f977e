#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lab/pickle/sklearn.h"
#include "model/shift.h"

namespace kepler::lab::pickle {
namespace {

using json::Cursor;

/// One number per feature; nothing if the scaler does not use them.
Result<std::vector<double>> PerFeature(const Cursor& scaler, std::string_view key, size_t features, double otherwise) {
  KEPLER_TRY(const Cursor at, scaler.Member(key));
  if (at.IsNull()) return std::vector(features, otherwise);
  KEPLER_TRY(const auto numbers, at.Numbers());
  if (numbers.size() != features) return at.Refuse(fmt::format("{} numbers for {} features", numbers.size(), features));
  return std::vector(numbers.begin(), numbers.end());
}

Status AddScaler(const Cursor& scaler, std::string_view name, Steps& steps) {
  const size_t features = steps.scale.size();
  KEPLER_TRY(auto scale, PerFeature(scaler, "scale_", features, 1));
  std::vector<double> shift(features, 0);
  if (name == "MinMaxScaler") {
    KEPLER_TRY(const auto clip, scaler.Find("clip"));  // since version 0.24
    if (clip) {
      KEPLER_TRY(const double clips, clip->Number());
      if (clips != 0) return clip->Refuse("limits of features are not supported");
    }
    KEPLER_TRY(shift, PerFeature(scaler, "min_", features, 0));
    for (double& each : scale) each = 1 / each;  // it is multiplied
  } else if (name == "StandardScaler") {
    KEPLER_TRY(const double with_mean, scaler.Number("with_mean"));
    KEPLER_TRY(shift, PerFeature(scaler, "mean_", features, 0));
    for (size_t i = 0; i < features; ++i) shift[i] = with_mean == 0 ? 0 : -shift[i] / scale[i];
  } else if (name != "MaxAbsScaler") {
    return scaler.Refuse(fmt::format("{} is not a supported scaler", name));
  }
  for (size_t i = 0; i < features; ++i) {
    steps.scale[i] *= scale[i];
    steps.shift[i] = steps.shift[i] / scale[i] + shift[i];
  }
  return {};
}

Status AddProducts(const Cursor& step, Steps& steps) {
  KEPLER_TRY(const Cursor degree, step.Member("degree"));
  const auto number = degree.Number();
  KEPLER_TRY(const double without_squares, step.Number("interaction_only"));
  if (!number || *number != 2 || without_squares != 0)
    return degree.Refuse("only polynomials of degree 2, with squares, are supported");
  KEPLER_TRY(const double has_one, step.Number("include_bias"));
  steps.has_products = true;
  steps.has_one = has_one != 0;
  return {};
}

}  // namespace

Result<Steps> ReadSteps(std::span<const json::Value> values, size_t features) {
  Steps steps{.scale = std::vector<double>(features, 1), .shift = std::vector<double>(features, 0)};
  for (const json::Value& value : values) {
    const Cursor step(value);
    KEPLER_TRY(std::string_view name, step.Text("class"));
    name.remove_prefix(name.rfind('.') + 1);
    if (steps.has_products) return step.Refuse("a step after PolynomialFeatures is not supported");
    KEPLER_CHECK_OK(name == "PolynomialFeatures" ? AddProducts(step, steps) : AddScaler(step, name, steps));
  }
  return steps;
}

Status Prepare(const Steps& steps, model::Predictor& predictor) {
  KEPLER_CHECK_OK(Check(predictor, steps.scale.size()));
  if (std::ranges::any_of(steps.shift, [](double shift) { return shift != 0; }))
    KEPLER_CHECK_OK(model::ShiftFeatures(steps.shift, predictor));
  predictor.scale = steps.scale;
  return {};
}

}  // namespace kepler::lab::pickle
