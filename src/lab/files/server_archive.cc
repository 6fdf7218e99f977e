#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/document.h"
#include "lab/files/model_archive.h"
#include "model/features.h"
#include "model/machine_json.h"
#include "model/weights_json.h"
#include "model/xgboost_json.h"

namespace kepler::lab::files {
namespace {

using json::Cursor;

constexpr std::string_view kPickleSuffixes[] = {".pkl", ".pickle", ".joblib"};

bool IsPickle(std::string_view name) {
  return std::ranges::any_of(kPickleSuffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

std::unexpected<Error> RefusePickle(std::string_view name, std::string_view model_name, std::string_view what) {
  return OfMember(name,
                  fmt::format("a Python pickle is not read, because reading one runs its code; it {}. Import the "
                              "weights of the same model, {}.json, which are published with the archive of linear "
                              "models and curves, or train a new model",
                              what, EscapeControls(model_name)),
                  ErrorKind::kUnavailable);
}

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

/// Of each feature, from weight.json; an error where it does not say them all.
Result<std::vector<double>> ReadScales(std::string_view text, const Listed& listed) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  KEPLER_TRY(const Cursor component, Cursor(document).Member(model::Name(listed.component)));
  KEPLER_TRY(const Cursor weights, component.Member("All_Weights"));
  KEPLER_TRY(const Cursor variables, weights.Member("Numerical_Variables"));
  KEPLER_TRY(const auto* const all, variables.Members());
  std::vector<double> scales;
  for (const std::string& feature : listed.features) {
    const auto found = std::ranges::find_if(
        *all, [&](const json::Member& member) { return model::CanonicalFeature(member.key) == feature; });
    if (found == all->end()) return variables.Refuse("a feature is missing");
    const Cursor variable = variables.At(found->value);
    if (variable.Member("variance")) return variable.Refuse("of Kepler 0.6, where a smallest value is missing");
    KEPLER_TRY(const double scale, variable.Number("scale"));
    scales.push_back(scale);
  }
  return scales;
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

Result<model::ComponentModel> ReadTrees(std::span<const Member> members, const Listed& listed,
                                        std::string_view model_name) {
  if (IsPickle(listed.file)) return RefusePickle(listed.file, model_name, "contains the formula of the model");
  KEPLER_TRY(const Member* const file, NeededMember(members, listed.file));
  const Member* const weights = FindMember(members, kWeightMember);
  model::ComponentModel component;
  component.component = listed.component;
  component.trainer = "xgboost";
  for (const std::string& step : listed.steps) {
    if (step != "scaler.pkl") return RefusePickle(step, model_name, "contains the transformation of the features");
    auto scales = ReadScales(weights == nullptr ? "" : weights->bytes, listed);
    if (!scales) return RefusePickle(step, model_name, "contains the scales of the features");
    component.predictor.scale = *std::move(scales);
  }
  KEPLER_TRY(model::XgboostModel trees, InMember(file->name, model::ReadXgboostJson(file->bytes)));
  KEPLER_CHECK_OK(CheckNames(trees, listed));
  component.predictor.formula = std::move(trees.trees);
  return component;
}

Result<model::PowerModel> FromTrees(std::span<const Member> members, const std::string& name) {
  const std::string list = name + ".json";
  const Member* const file = FindMember(members, list);
  if (file == nullptr) return OfMember(list, "it is missing: the archive has neither weights nor a list of its files");
  KEPLER_TRY(const auto all, InMember(list, ReadList(file->bytes)));
  model::PowerModel model;
  model.name = name;
  model.features = all.front().features;
  for (const Listed& listed : all) {
    KEPLER_TRY(model::ComponentModel component, ReadTrees(members, listed, name));
    model.components.push_back(std::move(component));
  }
  KEPLER_CHECK_OK(InMember(list, model::Check(model)));
  return model;
}

/// Weights that hold a formula; of trees it may be the scales only.
Result<model::PowerModel> FromWeights(std::span<const Member> members, const std::string& name) {
  const Member* const file = FindMember(members, kWeightMember);
  if (file == nullptr) return FromTrees(members, name);
  auto model = model::ReadWeightsJson(file->bytes, name);
  if (model) return model;
  auto trees = FromTrees(members, name);
  if (!trees && FindMember(members, name + ".json") == nullptr) return OfMember(file->name, model.error().message);
  return trees;
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

std::string Stated(const Cursor& metadata) {
  std::string text;
  const auto members = metadata.Members();
  for (const auto& [key, value] : **members)
    if (key.ends_with("mae") || key.ends_with("mape"))
      if (const auto number = metadata.At(value).Number())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, *number);
  return text;
}

struct ServerMetadata {
  std::string name;  // "XgboostFitTrainer_0"
  model::OutputType output = model::OutputType::kAbsPower;
  std::optional<model::MachineSpec> machine;
  std::string stated;
};

Result<ServerMetadata> ReadMetadata(std::string_view text) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  const Cursor root(document);
  ServerMetadata metadata;
  KEPLER_TRY(metadata.name, root.Text("model_name"));
  KEPLER_CHECK_OK(ReadOutput(root, metadata.output));
  KEPLER_TRY(metadata.machine, model::ReadMachineSpec(root));
  metadata.stated = Stated(root);
  return metadata;
}

}  // namespace

Result<ServerModel> ReadServerArchive(std::span<const Member> members) {
  const Member* const file = FindMember(members, kMetadataMember);
  if (file == nullptr)
    return OfMember(kMetadataMember,
                    "it is missing: this is neither an archive of kepler-model export nor of Kepler's model server");
  KEPLER_TRY(ServerMetadata metadata, InMember(file->name, ReadMetadata(file->bytes)));
  ServerModel read;
  KEPLER_TRY(read.model, FromWeights(members, metadata.name));
  read.model.output = metadata.output;
  if (!read.model.machine) read.model.machine = metadata.machine;
  read.stated = std::move(metadata.stated);
  return read;
}

}  // namespace kepler::lab::files
