#include "modelserver/model_list.h"

#include <fmt/format.h>

#include <cmath>

#include "base/percent.h"
#include "json/document.h"
#include "model/machine_json.h"

namespace kepler::modelserver {
namespace {

std::string Numbers(const Stated& stated) {
  std::string out;
  for (const auto& [key, value] : stated)
    if (std::isfinite(value)) out += fmt::format("{}{}:{}", out.empty() ? "" : ",", json::Quote(key), value);
  return "{" + out + "}";
}

std::string Files(const StoredModel& model) {
  std::string out;
  for (const auto* const file : {&model.archive, &model.weights, &model.own, &model.signature})
    if (*file)
      out += fmt::format("{}{}:\"{}\"", out.empty() ? "" : ",", json::Quote(PathOf(model, **file)), (*file)->sha256);
  return "{" + out + "}";
}

std::string One(const StoredModel& model) {
  std::string out = fmt::format(
      R"({{"id":{},"name":{},"pipeline":{},"kind":"{}","source":{},"output":"{}","feature_group":{},"features":{})",
      json::Quote(model.id), json::Quote(model.name), json::Quote(model.pipeline), model.own ? "own" : "archive",
      json::Quote(model.source), model::Name(model.output), json::Quote(model.group), json::QuoteList(model.features));
  if (model.type) out += fmt::format(R"(,"node_type":{})", *model.type);
  if (model.machine()) out += fmt::format(R"(,"machine":{})", model::WriteMachineJson(*model.machine()));
  return out + fmt::format(R"(,"weights":{},"signed":{},"stated":{},"files":{}}})", model.judged_weights != nullptr,
                           model.signature.has_value(), Numbers(model.stated), Files(model));
}

}  // namespace

std::string PathOf(const StoredModel& model, const StoredFile& file) {
  if (!model.own) return "/db/" + PercentEncode(file.relative, "/");
  return fmt::format("/models/{}/model.json{}", model.name, &file == &*model.own ? "" : ".sig");
}

std::string WriteModelList(const ModelIndex& index) {
  std::string models;
  for (const StoredModel& model : index.models) models += (models.empty() ? "\n" : ",\n") + One(model);
  std::string skipped;
  for (const SkippedFile& file : index.skipped)
    skipped += fmt::format("{}{{\"file\":{},\"reason\":{}}}", skipped.empty() ? "\n" : ",\n",
                           json::Quote(file.relative), json::Quote(file.reason));
  return fmt::format(R"({{"models":[{}],"skipped":[{}]}})", models, skipped) + "\n";
}

}  // namespace kepler::modelserver
