#include "modelserver/own_archive.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "json/document.h"
#include "lab/files/archive.h"
#include "lab/files/model_archive.h"
#include "model/xgboost_json.h"
#include "modelserver/archive_summary.h"
#include "modelserver/model_request.h"

namespace kepler::modelserver {
namespace {

using json::Quote;

/// Only texts, numbers and lists: the estimator makes a model of every object in this file.
std::string Metadata(const model::PowerModel& model) {
  std::string out = fmt::format(
      R"({{"model_name":{0},"model_class":"xgboost","model_file":{1},"features":{2},"fe_files":[],"output_type":"{3}")",
      Quote(kOwnArchiveName), Quote(fmt::format("{}.json", kOwnArchiveName)), json::QuoteList(model.features),
      model::Name(model.output));
  for (const auto& [key, value] : StatedErrors(model)) out += fmt::format(",{}:{}", Quote(key), value);
  return out + "}";
}

std::string ComponentFile(model::Component component) { return fmt::format("{}.json", model::Name(component)); }

std::string ComponentList(const model::PowerModel& model) {
  std::string out;
  for (const model::ComponentModel& of : model.components)
    out += fmt::format(R"({}{}:{{"model_file":{},"features":{},"fe_files":[]}})", out.empty() ? "" : ",",
                       Quote(model::Name(of.component)), Quote(ComponentFile(of.component)),
                       json::QuoteList(model.features));
  return "{" + out + "}";
}

}  // namespace

bool IsOfSource(model::Component component, std::string_view source) {
  return (component == model::Component::kPlatform) == (MainComponent(source) == model::Component::kPlatform);
}

Result<std::string> WriteOwnArchive(const model::PowerModel& model, std::string_view source) {
  model::PowerModel some = model;
  std::erase_if(some.components, [&](const model::ComponentModel& of) { return !IsOfSource(of.component, source); });
  if (some.components.empty())
    return Fail(ErrorKind::kInvalid, fmt::format("the model has no component of {}", source));
  std::vector<lab::files::Member> members = {{lab::files::kMetadataMember, Metadata(some)},
                                             {fmt::format("{}.json", kOwnArchiveName), ComponentList(some)}};
  for (const model::ComponentModel& of : some.components) {
    KEPLER_TRY(std::string trees, model::WriteXgboostJson(some, of));
    members.push_back({ComponentFile(of.component), std::move(trees)});
  }
  return lab::files::WriteArchive(members);
}

}  // namespace kepler::modelserver
