#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/document.h"
#include "lab/files/model_archive.h"
#include "lab/pickle/pickle.h"
#include "lab/pickle/sklearn.h"
#include "model/features.h"
#include "model/machine_json.h"
#include "model/weights_json.h"
#include "model/xgboost_json.h"
#include "model/zero_components.h"

namespace kepler::lab::files {
namespace {

using json::Cursor;

/// As `<Trainer>_<type>.json` says what predicts a component.
struct Listed {
  model::Component component = model::Component::kPackage;
  std::string file;
  std::vector<std::string> features;  // canonical
  std::vector<std::string> steps;     // what is done to them before
};

Result<Listed> ReadListed(const Cursor& at, model::Component component) {
  Listed listed;
  listed.component = component;
  KEPLER_TRY(listed.file, at.Text("model_file"));
  KEPLER_TRY(listed.features, at.Texts("features"));
  for (std::string& feature : listed.features) feature = model::CanonicalFeature(feature);
  KEPLER_TRY(const auto steps, at.Find("fe_files"));
  if (steps) {
    KEPLER_TRY(listed.steps, steps->Texts());
  }
  return listed;
}

Result<std::vector<Listed>> ReadList(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  const Cursor root(document);
  KEPLER_TRY(const auto* const members, root.Members());
  std::vector<Listed> all;
  for (const auto& [key, value] : *members) {
    const Cursor at = root.At(value);
    const auto component = model::ComponentOf(key);
    if (!component) return at.Refuse("not a component of a node");
    KEPLER_TRY(Listed listed, ReadListed(at, *component));
    if (!all.empty() && all.front().features != listed.features)
      return at.Refuse("its features differ from those of the previous component, which is not supported");
    all.push_back(std::move(listed));
  }
  if (all.empty()) return root.Refuse("it has no component");
  return all;
}

Status CheckNames(const model::XgboostModel& trees, const Listed& listed) {
  if (trees.feature_count != listed.features.size())
    return OfMember(listed.file,
                    fmt::format("it has {} features, but {} are listed", trees.feature_count, listed.features.size()));
  for (size_t i = 0; i < trees.features.size(); ++i)
    if (const std::string& name = trees.features[i];
        name != fmt::format("f{}", i) && model::CanonicalFeature(name) != listed.features[i])
      return OfMember(listed.file, fmt::format("feature {} is {}, but {} is listed", i, EscapeControls(name),
                                               EscapeControls(listed.features[i])));
  return {};
}

Status ReadOutput(const Cursor& metadata, model::OutputType& output) {
  KEPLER_TRY(const Cursor at, metadata.Member("output_type"));
  KEPLER_TRY(const std::string_view text, at.Text());
  for (const auto type : {model::OutputType::kAbsPower, model::OutputType::kDynPower}) {
    output = type;
    if (text == Name(type)) return {};
  }
  return at.Refuse("it is neither AbsPower nor DynPower");
}

/// {"package_mae": 3.5, "package_mape": 4.2}; a MAPE of -1 if no row counts.
std::optional<model::Accuracy> ErrorOf(const Cursor& metadata, model::Component component) {
  const auto number = [&](std::string_view suffix) {
    return metadata.Number(fmt::format("{}_{}", Name(component), suffix)).value_or(-1);
  };
  if (number("mae") < 0) return std::nullopt;
  return model::Accuracy{.rows = 0, .mae_watts = number("mae"), .mape = std::max(number("mape"), 0.0), .r2 = 0};
}

/// The model server writes -1 for an error that it does not know.
std::string Stated(const Cursor& metadata) {
  std::string text;
  const auto members = metadata.Members();
  for (const auto& [key, value] : **members)
    if (key.ends_with("mae") || key.ends_with("mape"))
      if (const auto number = metadata.At(value).Number(); number && *number >= 0)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, *number);
  return text;
}

struct ServerMetadata {
  std::string name;  // "XgboostFitTrainer_0"
  model::OutputType output = model::OutputType::kAbsPower;
  std::optional<model::MachineSpec> machine;
  std::string stated;
  std::array<std::optional<model::Accuracy>, model::kComponents> errors;  // by component; of an unknown number of rows
};

Result<ServerMetadata> ReadMetadata(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  const Cursor root(document);
  ServerMetadata metadata;
  KEPLER_TRY(metadata.name, root.Text("model_name"));
  KEPLER_CHECK_OK(ReadOutput(root, metadata.output));
  KEPLER_TRY(metadata.machine, model::ReadMachineSpec(root));
  metadata.stated = Stated(root);
  for (size_t i = 0; i < model::kComponents; ++i) metadata.errors[i] = ErrorOf(root, static_cast<model::Component>(i));
  return metadata;
}

/// An error in a pickle, with what can be done instead.
template <class T>
Result<T> InPickle(std::string_view name, Result<T> result) {
  if (result) return result;
  return OfMember(name, result.error().message + "; train a new model instead", result.error().kind);
}

Result<pickle::Steps> ReadSteps(std::span<const Member> members, const Listed& listed) {
  std::vector<json::Value> values;
  for (const std::string& step : listed.steps) {
    KEPLER_TRY(const Member* const file, NeededMember(members, step));
    KEPLER_TRY(json::Value value, InPickle(step, pickle::ReadPickle(file->bytes)));
    values.push_back(std::move(value));
  }
  return InPickle(listed.steps.empty() ? "" : listed.steps.back(), pickle::ReadSteps(values, listed.features.size()));
}

Result<model::Predictor> ReadTrees(const Member& file, const Listed& listed, const pickle::Steps& steps) {
  KEPLER_TRY(model::XgboostModel trees, InMember(file.name, model::ReadXgboostJson(file.bytes)));
  KEPLER_CHECK_OK(CheckNames(trees, listed));
  if (steps.has_products) return OfMember(file.name, "products of features before trees are not supported");
  model::Predictor predictor{.limits = {}, .scale = {}, .formula = std::move(trees.trees)};
  KEPLER_CHECK_OK(InMember(file.name, pickle::Prepare(steps, predictor)));
  return predictor;
}

Result<model::Predictor> ReadPredictor(std::span<const Member> members, const Listed& listed) {
  KEPLER_TRY(const pickle::Steps steps, ReadSteps(members, listed));
  KEPLER_TRY(const Member* const file, NeededMember(members, listed.file));
  if (listed.file.ends_with(".json")) return ReadTrees(*file, listed, steps);
  KEPLER_TRY(const json::Value estimator, InPickle(file->name, pickle::ReadPickle(file->bytes)));
  return InPickle(file->name, pickle::ReadEstimator(estimator, steps));
}

Result<model::PowerModel> FromList(std::span<const Member> members, const std::string& name) {
  const std::string list = name + ".json";
  const Member* const file = FindMember(members, list);
  if (file == nullptr)
    return OfMember(list, "it is missing: the archive has neither weights nor a list of its files",
                    ErrorKind::kNotFound);
  KEPLER_TRY(const auto all, InMember(list, ReadList(file->bytes)));
  model::PowerModel model;
  model.name = name;
  model.features = all.front().features;
  for (const Listed& listed : all) {
    model::ComponentModel& component = model.components.emplace_back();
    component.component = listed.component;
    component.trainer = name.substr(0, name.rfind('_'));
    KEPLER_TRY(component.predictor, ReadPredictor(members, listed));
  }
  KEPLER_CHECK_OK(InMember(list, model::Check(model)));
  return model;
}

/// The model server writes weight.json after the archive, so the one in an archive may be of an earlier training: it is
/// used only if a file of the formula is missing.
Result<ServerModel> FromFormulaOrWeights(std::span<const Member> members, const ServerMetadata& metadata) {
  auto model = FromList(members, metadata.name);
  if (model) {
    for (model::ComponentModel& component : model->components)
      component.accuracy = metadata.errors[static_cast<size_t>(component.component)];
    return ServerModel{.model = *std::move(model), .stated = metadata.stated, .weights_because = ""};
  }
  const Member* const file = FindMember(members, kWeightMember);
  if (file == nullptr) return std::unexpected(model.error());
  if (model.error().kind != ErrorKind::kNotFound)
    return Fail(
        model.error().kind,
        fmt::format("{}; to use the weights, which may be of an earlier training, unpack {} and import that file",
                    model.error().message, kWeightMember));
  auto weights = model::ReadWeightsJson(file->bytes, metadata.name);
  if (!weights) return OfMember(file->name, fmt::format("{} ({})", weights.error().message, model.error().message));
  return ServerModel{.model = *std::move(weights), .stated = "", .weights_because = model.error().message};
}

}  // namespace

Result<ServerModel> ReadServerArchive(std::span<const Member> members) {
  const Member* const file = FindMember(members, kMetadataMember);
  if (file == nullptr)
    return OfMember(kMetadataMember,
                    "it is missing: this is neither an archive of kepler-model export nor of Kepler's model server");
  KEPLER_TRY(const ServerMetadata metadata, InMember(file->name, ReadMetadata(file->bytes)));
  KEPLER_TRY(ServerModel read, FromFormulaOrWeights(members, metadata));
  read.model.output = metadata.output;
  if (!read.model.machine) read.model.machine = metadata.machine;
  KEPLER_CHECK_OK(model::DropZeroComponents(read.model));
  return read;
}

}  // namespace kepler::lab::files
