#include "model/weights_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/features.h"
#include "model/json.h"
#include "model/xgboost_json.h"

namespace kepler::model {
namespace {

struct CurveKind {
  std::string_view trainer;
  Curve::Shape shape;
  size_t weights;
};
constexpr CurveKind kCurves[] = {{"ExponentialRegressionTrainer", Curve::Shape::kExponential, 3},
                                 {"LogarithmicRegressionTrainer", Curve::Shape::kLogarithmic, 3},
                                 {"LogisticRegressionTrainer", Curve::Shape::kLogistic, 4}};
constexpr std::string_view kLinearTrainer = "SGDRegressorTrainer";
/// In files of Kepler 0.6 its scale is what values are multiplied by, and everywhere else what they are divided by.
constexpr std::string_view kMultiplying = "LinearRegressionTrainer";

std::string_view TrainerOf(std::string_view model_name) { return model_name.substr(0, model_name.rfind('_')); }

const CurveKind* CurveOf(std::string_view trainer) {
  const auto* const found = std::ranges::find(kCurves, trainer, &CurveKind::trainer);
  return found == std::end(kCurves) ? nullptr : found;
}

/// Which feature the curves of Kepler 0.7 were fitted on: its trainers go by the feature group, and in every group that
/// is the first of these that it has, for memory and for all else.
const std::string* CurveFeature(std::span<const std::string> features, Component component) {
  constexpr std::string_view kMemory[] = {"cache_miss", "bpf_page_cache_hit"};
  constexpr std::string_view kOther[] = {"cpu_instructions", "bpf_cpu_time_ms"};
  for (const std::string_view wanted : component == Component::kDram ? kMemory : kOther)
    if (const auto found = std::ranges::find(features, wanted); found != features.end()) return &*found;
  return features.size() == 1 ? features.data() : nullptr;
}

/// What the file says of one feature of one component.
struct Variable {
  double scale = 1;
  double mean = 0;
  double weight = 0;
};

/// The file's order of one component's features, as today's names.
struct Numerical {
  std::vector<std::string> names;
  std::vector<Variable> variables;
};

Result<double> NumberOr(const JsonAt& object, std::string_view key, double otherwise) {
  KEPLER_TRY(const auto at, object.Find(key));
  if (!at) return otherwise;
  return at->Number();
}

/// {scale, weight} of 0.7; {scale, mean: 0, variance: 0, weight} of 0.6; {mean, variance, weight} of its first files.
Result<Variable> ReadVariable(const JsonAt& at, std::string_view trainer) {
  Variable variable;
  KEPLER_TRY(const auto scale, at.Find("scale"));
  KEPLER_TRY(const auto variance_at, at.Find("variance"));
  KEPLER_TRY(variable.mean, NumberOr(at, "mean", 0));
  KEPLER_TRY(variable.weight, NumberOr(at, "weight", 0));
  KEPLER_TRY(const double variance, NumberOr(at, "variance", 0));
  if (variance < 0) return at.Refuse(fmt::format("its variance is {}", variance));
  if (!scale) {
    if (!variance_at) return at.Refuse("neither \"scale\" nor \"variance\"");
    variable.scale = std::sqrt(variance);
    return variable;
  }
  KEPLER_TRY(variable.scale, scale->Number());
  if (variable.mean != 0 || variance != 0) return at.Refuse("a scale, and a mean or variance: only one can hold");
  if (variance_at && trainer == kMultiplying && variable.scale != 0) variable.scale = 1 / variable.scale;
  return variable;
}

Result<Numerical> ReadNumerical(const JsonAt& weights, std::string_view trainer) {
  Numerical numerical;
  KEPLER_TRY(const JsonAt at, weights.Member("Numerical_Variables"));
  KEPLER_TRY(const auto* const members, at.Members());
  for (const auto& [key, value] : *members) {
    const JsonAt variable_at(value, fmt::format("{}.{}", at.path(), key));
    const std::string name(CanonicalFeature(key));
    if (std::ranges::find(numerical.names, name) != numerical.names.end())
      return variable_at.Refuse(fmt::format("the feature {} is there under another name already", name));
    KEPLER_TRY(const Variable variable, ReadVariable(variable_at, trainer));
    numerical.names.push_back(name);
    numerical.variables.push_back(variable);
  }
  if (numerical.names.empty()) return at.Refuse("it has no features");
  return numerical;
}

/// Weights by the value of a text feature (cpu_architecture). Published files have none; a model that needs them would
/// be wrong without.
Status CheckCategorical(const JsonAt& weights) {
  KEPLER_TRY(const auto at, weights.Find("Categorical_Variables"));
  if (!at) return {};
  KEPLER_TRY(const auto* const features, at->Members());
  for (const auto& [name, values] : *features) {
    const JsonAt feature(values, fmt::format("{}.{}", at->path(), name));
    KEPLER_TRY(const auto* const members, feature.Members());
    if (!members->empty())
      return feature.Refuse("weights by value are not read: train the model without categorical features");
  }
  return {};
}

Result<Linear> ReadLinear(const JsonAt& weights, const Numerical& numerical) {
  if (const auto curve = weights.Find("CurveFit_Weights"); curve && *curve)
    return (*curve)->Refuse(fmt::format("the model's name says that it is linear; a curve's begins with {}, {} or {}",
                                        kCurves[0].trainer, kCurves[1].trainer, kCurves[2].trainer));
  Linear linear;
  KEPLER_TRY(const JsonAt bias, weights.Member("Bias_Weight"));
  KEPLER_TRY(linear.bias, bias.Number());
  for (const Variable& variable : numerical.variables) {
    linear.weights.push_back(variable.weight);
    if (variable.scale != 0) linear.bias -= variable.weight * variable.mean / variable.scale;
  }
  return linear;
}

Result<Curve> ReadCurve(const JsonAt& weights, const Numerical& numerical, const CurveKind& kind, Component component) {
  Curve curve{.shape = kind.shape};
  KEPLER_TRY(const JsonAt at, weights.Member("CurveFit_Weights"));
  KEPLER_TRY(const auto w, at.Numbers());
  if (w.size() != kind.weights)
    return at.Refuse(fmt::format("{} numbers, but {} has {}", w.size(), kind.trainer, kind.weights));
  std::ranges::copy(w, curve.w.begin());
  const std::string* const feature = CurveFeature(numerical.names, component);
  if (feature == nullptr)
    return at.Refuse(
        fmt::format("which feature of {} the curve was fitted on is not known", fmt::join(numerical.names, ", ")));
  curve.feature = static_cast<uint32_t>(feature - numerical.names.data());
  return curve;
}

/// RFC 4648, with padding; nothing where it is not that.
std::optional<std::string> FromBase64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::array<uint8_t, 256> digit_of;
  digit_of.fill(64);
  for (size_t i = 0; i < kDigits.size(); ++i) digit_of[static_cast<uint8_t>(kDigits[i])] = static_cast<uint8_t>(i);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const uint8_t digit = digit_of[static_cast<uint8_t>(c)];
    if (digit == 64) return std::nullopt;
    bits = bits << 6 | digit;
    if ((count += 6) < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

Result<Trees> ReadTrees(const JsonAt& at, const Numerical& numerical) {
  KEPLER_TRY(const std::string_view text, at.Text());
  const auto json = FromBase64(text);
  if (!json) return at.Refuse("it is not Base64");
  auto read = ReadXgboostJson(*json);
  if (!read) return at.Refuse(read.error().message);
  if (read->feature_count != numerical.names.size())
    return at.Refuse(
        fmt::format("it has {} features, but Numerical_Variables {}", read->feature_count, numerical.names.size()));
  for (size_t i = 0; i < read->features.size(); ++i)
    if (CanonicalFeature(read->features[i]) != numerical.names[i])
      return at.Refuse(
          fmt::format("its feature {} is {}, but {} in Numerical_Variables", i, read->features[i], numerical.names[i]));
  return std::move(read->trees);
}

/// One component as the file has it: its formula sees the features in the order of `numerical`.
struct ReadComponent {
  Component component;
  Numerical numerical;
  decltype(Predictor::formula) formula;
};

Result<ReadComponent> ReadOne(const JsonAt& at, Component component, std::string_view trainer) {
  KEPLER_TRY(const JsonAt weights, at.Member("All_Weights"));
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
      return weights.Refuse(fmt::format("a mean of {}, but only linear models have such", read.numerical.names[i]));
  if (trees) {
    KEPLER_TRY(read.formula, ReadTrees(*trees, read.numerical));
  } else {
    KEPLER_TRY(read.formula, ReadCurve(weights, read.numerical, *kind, component));
  }
  return read;
}

/// From the component's own features to those of the model: where each stands in a row; the others do not count.
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

Result<std::optional<MachineSpec>> ReadMachine(const JsonAt& file) {
  KEPLER_TRY(const auto at, file.Find("machine_spec"));
  if (!at || std::holds_alternative<std::nullptr_t>(at->json().value)) return std::nullopt;
  MachineSpec machine;
  KEPLER_TRY(const auto processor, at->Find("processor"));
  if (processor) {
    KEPLER_TRY(const std::string_view text, processor->Text());
    machine.processor = text;
  }
  const std::array<std::pair<std::string_view, uint32_t*>, 4> numbers = {{{"cores", &machine.cores},
                                                                          {"chips", &machine.chips},
                                                                          {"memory", &machine.memory_gib},
                                                                          {"frequency", &machine.frequency_mhz}}};
  for (const auto& [key, number] : numbers) {
    KEPLER_TRY(const auto value, at->Find(key));
    if (!value) continue;
    KEPLER_TRY(const uint64_t count, value->Count(1'000'000'000));
    *number = static_cast<uint32_t>(count);
  }
  return machine;
}

Result<std::vector<ReadComponent>> ReadComponents(const JsonAt& file, std::string_view trainer) {
  std::vector<ReadComponent> all;
  for (size_t i = 0; i < kComponents; ++i) {
    const auto component = static_cast<Component>(i);
    KEPLER_TRY(const auto at, file.Find(model::Name(component)));
    if (!at) continue;
    KEPLER_TRY(auto read, ReadOne(*at, component, trainer));
    all.push_back(std::move(read));
  }
  if (all.empty()) return file.Refuse("neither \"platform\" nor \"package\", \"core\", \"uncore\" or \"dram\"");
  return all;
}

}  // namespace

Result<PowerModel> ReadWeightsJson(std::string_view text, std::string_view name) {
  KEPLER_TRY(const Json document, ParseJson(text));
  const JsonAt file(document);
  PowerModel model;
  model.name = name;
  KEPLER_TRY(const auto own_name, file.Find("model_name"));
  if (own_name) {
    KEPLER_TRY(const std::string_view model_name, own_name->Text());
    if (!model_name.empty()) model.name = model_name;
  }
  const std::string trainer(TrainerOf(model.name));
  KEPLER_TRY(model.machine, ReadMachine(file));
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

namespace {

/// Why a component cannot be written, or "".
std::string Hindrance(const PowerModel& model, const ComponentModel& component) {
  const Predictor& predictor = component.predictor;
  if (!predictor.limits.empty()) return "it holds features within limits, which this format does not have";
  const auto* const curve = std::get_if<Curve>(&predictor.formula);
  if (curve == nullptr && !std::holds_alternative<Linear>(predictor.formula))
    return "this format has linear models and curves only";
  if (curve == nullptr) return "";
  const std::string* const feature = CurveFeature(model.features, component.component);
  if (feature == nullptr || static_cast<size_t>(feature - model.features.data()) != curve->feature)
    return "its curve is of another feature than readers of this format take";
  return "";
}

/// Of the formula that all components have.
Result<std::string_view> TrainerFor(const PowerModel& model) {
  std::optional<std::string_view> trainer;
  for (const ComponentModel& component : model.components) {
    const auto* const curve = std::get_if<Curve>(&component.predictor.formula);
    const std::string_view own =
        curve == nullptr ? kLinearTrainer : std::ranges::find(kCurves, curve->shape, &CurveKind::shape)->trainer;
    if (trainer.value_or(own) != own)
      return Fail(ErrorKind::kInvalid, fmt::format("{}: another formula than the component before, and this format has "
                                                   "one for all",
                                                   model::Name(component.component)));
    trainer = own;
  }
  if (!trainer) return Fail(ErrorKind::kInvalid, "the model has no components");
  return *trainer;
}

std::string Weights(const PowerModel& model, const Predictor& predictor) {
  const auto* const linear = std::get_if<Linear>(&predictor.formula);
  const auto* const curve = std::get_if<Curve>(&predictor.formula);
  std::string text = "{\"All_Weights\":{";
  if (linear != nullptr) text += fmt::format("\"Bias_Weight\":{},", linear->bias);
  text += "\"Categorical_Variables\":{},\"Numerical_Variables\":{";
  for (size_t i = 0; i < model.features.size(); ++i) {
    text += fmt::format("{}{}:{{\"scale\":{}", i == 0 ? "" : ",", JsonText(model.features[i]),
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
                     JsonText(machine.processor), machine.cores, machine.chips, machine.memory_gib,
                     machine.frequency_mhz);
}

}  // namespace

Result<std::string> WriteWeightsJson(const PowerModel& model) {
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
  std::string text = fmt::format("{{\"model_name\":{}", JsonText(said ? model.name : fmt::format("{}_0", trainer)));
  if (model.machine) text += fmt::format(",\"machine_spec\":{}", MachineText(*model.machine));
  for (const ComponentModel& component : model.components)
    text += fmt::format(",{}:{}", JsonText(model::Name(component.component)), Weights(model, component.predictor));
  return text += "}\n";
}

}  // namespace kepler::model
