#include "model/any_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/document.h"
#include "model/features.h"
#include "model/model_json.h"
#include "model/weights_json.h"
#include "model/xgboost_json.h"
#include "model/zero_components.h"

namespace kepler::model {
namespace {

enum class Kind { kOwn, kXgboost, kWeights };

Result<Kind> KindOfFile(const json::Value& document) {
  const json::Cursor root(document);
  KEPLER_TRY(const auto* const members, root.Members());
  for (const auto& [key, unused] : *members) {
    if (key == "kepler_model") return Kind::kOwn;
    if (key == "learner") return Kind::kXgboost;
    if (ComponentOf(key)) return Kind::kWeights;
  }
  return root.Refuse(
      "not a model: it has neither \"kepler_model\", nor \"learner\" of XGBoost, nor a component of a weight file "
      "such as \"package\" or \"platform\"");
}

Result<PowerModel> FromXgboost(const json::Value& document, const FileHints& hints) {
  KEPLER_TRY(XgboostModel read, ReadXgboostJson(document));
  PowerModel model;
  model.name = hints.name;
  for (const std::string& name : read.features) model.features.emplace_back(CanonicalFeature(name));
  if (model.features.empty()) model.features.assign(hints.features.begin(), hints.features.end());
  if (model.features.size() != read.feature_count)
    return Fail(ErrorKind::kInvalid,
                fmt::format("the file does not name its {} features; give as many names, in the order of training, "
                            "instead of {}",
                            read.feature_count, model.features.size()));
  ComponentModel& component = model.components.emplace_back();
  component.component = hints.component;
  component.trainer = "xgboost";
  component.predictor.formula = std::move(read.trees);
  KEPLER_CHECK_OK(Check(model));
  return model;
}

Result<PowerModel> ReadKind(Kind kind, const json::Value& document, const FileHints& hints) {
  switch (kind) {
    case Kind::kOwn:
      return ReadModelJson(document);
    case Kind::kXgboost:
      return FromXgboost(document, hints);
    case Kind::kWeights:
      break;
  }
  return ReadWeightsJson(document, hints.name);
}

}  // namespace

Result<PowerModel> ReadAnyModelJson(std::string_view text, const FileHints& hints) {
  KEPLER_TRY(const json::Value document, json::Parse(text));
  KEPLER_TRY(const Kind kind, KindOfFile(document));
  if (hints.is_signed && kind != Kind::kOwn)
    return Fail(ErrorKind::kInvalid,
                "a signed model must be a model.json of kepler-model train: a weight file or XGBoost's JSON depends "
                "on its unsigned name and place; convert it with kepler-model import and sign the result");
  KEPLER_TRY(PowerModel model, ReadKind(kind, document, hints));
  if (!hints.features.empty() && !std::ranges::equal(hints.features, model.features))
    return Fail(ErrorKind::kInvalid, "the file already names its features, and they differ; give no names");
  if (kind != Kind::kOwn) model.output = hints.output.value_or(hints.output_otherwise);
  if (hints.output && model.output != *hints.output)
    return Fail(ErrorKind::kInvalid, fmt::format("the file states that its watts are {}", Name(model.output)));
  KEPLER_CHECK_OK(DropZeroComponents(model));
  return model;
}

}  // namespace kepler::model
