#include "model/weights_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/base64.h"
#include "json/document.h"
#include "model/features.h"
#include "model/machine_json.h"
#include "model/weights_format.h"
#include "model/xgboost_json.h"

namespace kepler::model {
namespace {

const CurveKind* CurveOf(std::string_view trainer) {
  const auto* const found = std::ranges::find(kCurves, trainer, &CurveKind::trainer);
  return found == std::end(kCurves) ? nullptr : found;
}

/// Values in the file for one feature of one component.
struct Variable {
  double scale = 1;
  double mean = 0;
  double weight = 0;
};

/// Feature order of one component in the file, with current names.
struct Numerical {
  std::vector<std::string> names;
  std::vector<Variable> variables;
};

Result<double> NumberOr(const json::Cursor& object, std::string_view key, double otherwise) {
  KEPLER_TRY(const auto at, object.Find(key));
  if (!at) return otherwise;
  return at->Number();
}

/// Reads {scale, weight} of 0.7; {scale, mean: 0, variance: 0, weight} of 0.6; {mean, variance, weight} of the first
/// 0.6 files.
Result<Variable> ReadVariable(const json::Cursor& at, std::string_view trainer) {
  Variable variable;
  KEPLER_TRY(const auto scale, at.Find("scale"));
  KEPLER_TRY(const auto variance_at, at.Find("variance"));
  KEPLER_TRY(variable.mean, NumberOr(at, "mean", 0));
  KEPLER_TRY(variable.weight, NumberOr(at, "weight", 0));
  KEPLER_TRY(const double variance, NumberOr(at, "variance", 0));
  if (variance < 0) return at.Refuse(fmt::format("its variance is {}", variance));
  if (!scale) {
    if (!variance_at) return at.Refuse(R"(neither "scale" nor "variance")");
    variable.scale = std::sqrt(variance);
    return variable;
  }
  KEPLER_TRY(variable.scale, scale->Number());
  if (variable.mean != 0 || variance != 0)
    return at.Refuse(
        "has both a scale and a mean or variance; only one is "
        "allowed");
  if (variance_at && trainer == kMultiplying && variable.scale != 0) variable.scale = 1 / variable.scale;
  return variable;
}

Result<Numerical> ReadNumerical(const json::Cursor& weights, std::string_view trainer) {
  Numerical numerical;
  KEPLER_TRY(const json::Cursor at, weights.Member("Numerical_Variables"));
  KEPLER_TRY(const auto* const members, at.Members());
  if (members->size() > kMaxFeatures)
    return at.Refuse(fmt::format("{} features; {} at most", members->size(), kMaxFeatures));
  for (const auto& [key, value] : *members) {
    const json::Cursor variable_at = at.At(value);
    const std::string name(CanonicalFeature(key));
    if (std::ranges::find(numerical.names, name) != numerical.names.end())
      return variable_at.Refuse(fmt::format("the feature {} already exists under another name", name));
    KEPLER_TRY(const Variable variable, ReadVariable(variable_at, trainer));
    numerical.names.push_back(name);
    numerical.variables.push_back(variable);
  }
  if (numerical.names.empty()) return at.Refuse("it has no features");
  return numerical;
}

/// Rejects weights by the value of a text feature (cpu_architecture). No published file contains them. A model with
/// such weights would give wrong results without them.
Status CheckCategorical(const json::Cursor& weights) {
  KEPLER_TRY(const auto at, weights.Find("Categorical_Variables"));
  if (!at) return {};
  KEPLER_TRY(const auto* const features, at->Members());
  for (const auto& [unused, values] : *features) {
    const json::Cursor feature = at->At(values);
    KEPLER_TRY(const auto* const members, feature.Members());
    if (!members->empty())
      return feature.Refuse(
          "weights of categorical values are not supported; train the model without categorical "
          "features");
  }
  return {};
}

Result<Linear> ReadLinear(const json::Cursor& weights, const Numerical& numerical) {
  if (const auto curve = weights.Find("CurveFit_Weights"); curve && *curve)
    return (*curve)->Refuse(
        fmt::format("the model's name means a linear model; the name of a curve begins with {}, "
                    "{} or {}",
                    kCurves[0].trainer, kCurves[1].trainer, kCurves[2].trainer));
  Linear linear;
  KEPLER_TRY(linear.bias, weights.Number("Bias_Weight"));
  for (const Variable& variable : numerical.variables) {
    linear.weights.push_back(variable.weight);
    if (variable.scale != 0) linear.bias -= variable.weight * variable.mean / variable.scale;
  }
  return linear;
}

Result<Curve> ReadCurve(const json::Cursor& weights, const Numerical& numerical, const CurveKind& kind,
                        Component component) {
  Curve curve{.shape = kind.shape};
  KEPLER_TRY(const json::Cursor at, weights.Member("CurveFit_Weights"));
  KEPLER_TRY(const auto w, at.Numbers());
  if (w.size() != kind.weights)
    return at.Refuse(fmt::format("{} numbers, but {} has {}", w.size(), kind.trainer, kind.weights));
  std::ranges::copy(w, curve.w.begin());
  const std::string* const feature = CurveFeature(numerical.names, component);
  if (feature == nullptr)
    return at.Refuse(fmt::format("the curve does not say on which of the features {} it was fitted",
                                 fmt::join(numerical.names, ", ")));
  curve.feature = static_cast<uint32_t>(feature - numerical.names.data());
  return curve;
}

Result<Trees> ReadTrees(const json::Cursor& at, const Numerical& numerical) {
  KEPLER_TRY(const std::string_view text, at.Text());
  const auto json = DecodeBase64(text);
  if (!json) return at.Refuse("not Base64");
  auto read = ReadXgboostJson(*json);
  if (!read) return at.Refuse(read.error().message);
  if (read->feature_count != numerical.names.size())
    return at.Refuse(
        fmt::format("it has {} features, but Numerical_Variables has {}", read->feature_count, numerical.names.size()));
  for (size_t i = 0; i < read->features.size(); ++i)
    if (CanonicalFeature(read->features[i]) != numerical.names[i])
      return at.Refuse(fmt::format("feature {} is {}, but in Numerical_Variables it is {}", i, read->features[i],
                                   numerical.names[i]));
  return std::move(read->trees);
}

/// One component in the file's form: its formula uses the features in the order of `numerical`.
struct ReadComponent {
  Component component;
  Numerical numerical;
  decltype(Predictor::formula) formula;
};

Result<ReadComponent> ReadOne(const json::Cursor& at, Component component, std::string_view trainer) {
  KEPLER_TRY(const json::Cursor weights, at.Member("All_Weights"));
  KEPLER_CHECK_OK(CheckCategorical(weights));
  ReadComponent read{.component = component, .numerical = {}, .formula = {}};
  KEPLER_TRY(read.numerical, ReadNumerical(weights, trainer));
  KEPLER_TRY(const auto trees, weights.Find("XGboost_Weights"));
  const CurveKind* const kind = CurveOf(trainer);
  if (!trees && kind == nullptr) {
    KEPLER_TRY(read.formula, ReadLinear(weights, read.numerical));
    return read;
  }
  for (size_t i = 0; i < read.numerical.names.size(); ++i)
    if (read.numerical.variables[i].mean != 0)
      return weights.Refuse(
          fmt::format("has a mean of {}, which only linear models may have", read.numerical.names[i]));
  if (trees) {
    KEPLER_TRY(read.formula, ReadTrees(*trees, read.numerical));
  } else {
    KEPLER_TRY(read.formula, ReadCurve(weights, read.numerical, *kind, component));
  }
  return read;
}

/// Maps the component's own features to those of the model: their positions in a row. Other features have no effect.
Predictor Place(ReadComponent read, std::span<const std::string> features) {
  Predictor predictor;
  predictor.scale.assign(features.size(), 0);
  std::vector<size_t> place;
  for (size_t i = 0; i < read.numerical.names.size(); ++i) {
    place.push_back(static_cast<size_t>(std::ranges::find(features, read.numerical.names[i]) - features.begin()));
    predictor.scale[place.back()] = read.numerical.variables[i].scale;
  }
  if (auto* const linear = std::get_if<Linear>(&read.formula)) {
    std::vector<double> weights(features.size(), 0);
    for (size_t i = 0; i < place.size(); ++i) weights[place[i]] = linear->weights[i];
    linear->weights = std::move(weights);
  } else if (auto* const curve = std::get_if<Curve>(&read.formula)) {
    curve->feature = static_cast<uint32_t>(place[curve->feature]);
  } else if (auto* const trees = std::get_if<Trees>(&read.formula)) {
    for (Trees::Node& node : trees->nodes)
      if (node.left != 0) node.feature = static_cast<uint16_t>(place[node.feature]);
  }
  predictor.formula = std::move(read.formula);
  return predictor;
}

Result<std::vector<ReadComponent>> ReadComponents(const json::Cursor& file, std::string_view trainer) {
  std::vector<ReadComponent> all;
  for (size_t i = 0; i < kComponents; ++i) {
    const auto component = static_cast<Component>(i);
    KEPLER_TRY(const auto at, file.Find(model::Name(component)));
    if (!at) continue;
    KEPLER_TRY(auto read, ReadOne(*at, component, trainer));
    all.push_back(std::move(read));
  }
  if (all.empty()) return file.Refuse(R"(neither "platform" nor "package", "core", "uncore" or "dram")");
  return all;
}

}  // namespace

Result<PowerModel> ReadWeightsJson(std::string_view text, std::string_view name) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  return ReadWeightsJson(document, name);
}

Result<PowerModel> ReadWeightsJson(const json::Value& document, std::string_view name) {
  const json::Cursor file(document);
  PowerModel model;
  model.name = name;
  KEPLER_TRY(const auto own_name, file.Find("model_name"));
  if (own_name) {
    KEPLER_TRY(const std::string_view model_name, own_name->Text());
    if (!model_name.empty()) model.name = model_name;
  }
  const std::string trainer(TrainerOf(model.name));
  KEPLER_TRY(model.machine, ReadMachineSpec(file));
  KEPLER_TRY(auto all, ReadComponents(file, trainer));
  for (const ReadComponent& read : all)
    for (const std::string& feature : read.numerical.names)
      if (std::ranges::find(model.features, feature) == model.features.end()) model.features.push_back(feature);
  if (model.features.size() > kMaxFeatures)
    return file.Refuse(fmt::format("{} features; {} at most", model.features.size(), kMaxFeatures));
  for (ReadComponent& read : all) {
    ComponentModel& component = model.components.emplace_back();
    component.component = read.component;
    component.trainer = trainer;
    component.predictor = Place(std::move(read), model.features);
  }
  KEPLER_CHECK_OK(Check(model));
  return model;
}

}  // namespace kepler::model
