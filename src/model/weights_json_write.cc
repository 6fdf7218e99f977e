#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "json/document.h"
#include "model/weights_format.h"
#include "model/weights_json.h"

namespace kepler::model {
namespace {

/// Returns the reason why a component cannot be written, or "".
std::string Hindrance(const PowerModel& model, const ComponentModel& component) {
  const Predictor& predictor = component.predictor;
  if (!predictor.limits.empty()) return "it limits its features, which this format cannot express";
  const auto* const curve = std::get_if<Curve>(&predictor.formula);
  if (curve == nullptr && !std::holds_alternative<Linear>(predictor.formula))
    return "this format supports only linear models and curves";
  if (curve == nullptr) return "";
  const std::string* const feature = CurveFeature(model.features, component.component);
  if (feature == nullptr || static_cast<size_t>(feature - model.features.data()) != curve->feature)
    return "its curve uses a feature that readers of this format do not support";
  return "";
}

/// Returns the trainer for the formula of all components.
Result<std::string_view> TrainerFor(const PowerModel& model) {
  std::optional<std::string_view> trainer;
  for (const ComponentModel& component : model.components) {
    const auto* const curve = std::get_if<Curve>(&component.predictor.formula);
    const std::string_view own =
        curve == nullptr ? kLinearTrainer : std::ranges::find(kCurves, curve->shape, &CurveKind::shape)->trainer;
    if (trainer.value_or(own) != own)
      return Fail(ErrorKind::kInvalid, fmt::format("{}: another formula than the previous component, but this format "
                                                   "has one formula for all components",
                                                   model::Name(component.component)));
    trainer = own;
  }
  if (!trainer) return Fail(ErrorKind::kInvalid, "the model has no components");
  return *trainer;
}

std::string Weights(const PowerModel& model, const Predictor& predictor) {
  const auto* const linear = std::get_if<Linear>(&predictor.formula);
  const auto* const curve = std::get_if<Curve>(&predictor.formula);
  std::string text = R"({"All_Weights":{)";
  if (linear != nullptr) text += fmt::format("\"Bias_Weight\":{},", linear->bias);
  text += R"("Categorical_Variables":{},"Numerical_Variables":{)";
  for (size_t i = 0; i < model.features.size(); ++i) {
    text += fmt::format("{}{}:{{\"scale\":{}", i == 0 ? "" : ",", json::Quote(model.features[i]),
                        predictor.scale.empty() ? 1 : predictor.scale[i]);
    if (linear != nullptr) text += fmt::format(",\"weight\":{}", linear->weights[i]);
    text += '}';
  }
  text += '}';
  if (curve != nullptr) {
    const size_t count = std::ranges::find(kCurves, curve->shape, &CurveKind::shape)->weights;
    text += fmt::format(",\"CurveFit_Weights\":[{}]", fmt::join(std::span(curve->w).first(count), ","));
  }
  return text += "}}";
}

std::string MachineText(const MachineSpec& machine) {
  return fmt::format(R"({{"processor":{},"cores":{},"chips":{},"memory":{},"frequency":{}}})",
                     json::Quote(machine.processor), machine.cores, machine.chips, machine.memory_gib,
                     machine.frequency_mhz);
}

}  // namespace

Result<std::string> WriteWeightsJson(const PowerModel& model) {
  if (model.per == Per::kCore)
    return Fail(ErrorKind::kInvalid, "its watts are per logical CPU, which this format cannot express");
  for (const ComponentModel& component : model.components) {
    const std::string_view name = model::Name(component.component);
    if (const auto status = Check(component.predictor, model.features.size()); !status)
      return Fail(ErrorKind::kInvalid, fmt::format("{}: {}", name, status.error().message));
    if (const std::string hindrance = Hindrance(model, component); !hindrance.empty())
      return Fail(ErrorKind::kInvalid, fmt::format("{}: {}", name, hindrance));
  }
  KEPLER_TRY(const std::string_view trainer, TrainerFor(model));
  const std::string_view own = TrainerOf(model.name);
  const bool said = own == trainer || (trainer == kLinearTrainer && own == kMultiplying);
  std::string text = fmt::format("{{\"model_name\":{}", json::Quote(said ? model.name : fmt::format("{}_0", trainer)));
  if (model.machine) text += fmt::format(",\"machine_spec\":{}", MachineText(*model.machine));
  for (const ComponentModel& component : model.components)
    text += fmt::format(",{}:{}", json::Quote(model::Name(component.component)), Weights(model, component.predictor));
  return text += "}\n";
}

}  // namespace kepler::model
