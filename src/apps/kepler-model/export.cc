// kepler-model export.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "json/document.h"
#include "lab/files/archive.h"
#include "lab/files/files.h"
#include "lab/files/model_archive.h"
#include "lab/files/model_file.h"
#include "model/model_json.h"
#include "model/sha256.h"
#include "model/weights_json.h"
#include "model/xgboost_json.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

enum class Format : uint8_t { kArchive, kXgboost };
constexpr std::string_view kFormats[] = {"archive", "xgboost"};

struct Export {
  std::string model;
  std::string output;
  Format format = Format::kArchive;
  std::string component;
  bool json = false;
};

constexpr Key kExportKeys[] = {
    Key("model", "model", "Model directory with model.json and card.md", kAt<&Export::model>,
        {.is_path = true, .required = true}),
    Key("output", "output", "The archive (.zip) or the file of XGBoost (.json); -: standard output",
        kAt<&Export::output>, {.is_path = true, .required = true}),
    Key("format", "format", "What to write: an archive, or one component as XGBoost's JSON", kAt<&Export::format>,
        {.choices = kFormats}),
    Key("component", "component", "Component for XGBoost's JSON; empty: the only one", kAt<&Export::component>),
    Key("json", "json", "Print the contents as JSON", kAt<&Export::json>),
};
constexpr settings::TableOf<Export> kExportTable(kExportKeys);

constexpr std::string_view kAboutExport = R"(Packs a model into an archive, or writes it for XGBoost.

The archive contains model.json, card.md, metadata.json and SHA256SUMS. It also contains weight.json for Kepler 0.7, if that
format can express the model: linear models, and curves from such a file. Curves of train limit their feature and are left out.
The same model gives the same bytes.

With --format=xgboost the file is what XGBoost's own save_model("model.json") writes: xgboost.Booster(model_file="model.json")
loads it. Trees and blends of trees can be written, but not models per core.

Examples:
  kepler-model export --model=model --output=model.zip
  kepler-model export --model=model --format=xgboost --component=dram --output=booster.json
  kepler-model export --model=model --output=- | ssh host kepler-model import --archive=- --output=model)";

Result<files::SharedModel> ReadShared(const std::string& directory) {
  files::SharedModel shared;
  std::error_code failed;
  if (std::filesystem::exists(directory, failed) && !std::filesystem::is_directory(directory, failed))
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}: not a directory; use the directory that contains model.json and card.md", directory));
  auto text = files::ReadBounded(directory + files::kModelFile, model::kMaxModelBytes);
  if (!text) return Fail(text.error().kind, fmt::format("{}; make a model with train or import", text.error().message));
  auto card = files::ReadBounded(directory + files::kCardFile, files::kMaxCardBytes);
  if (!card)
    return Fail(card.error().kind,
                fmt::format("{}; an archive needs card.md, which train and import write", card.error().message));
  auto read = model::ReadModelJson(*text);
  if (!read) return files::InFile(directory + files::kModelFile, read.error());
  return files::SharedModel{.model = *std::move(read), .json = *std::move(text), .card = *std::move(card)};
}

std::string ExportReport(const Export& config, const model::PowerModel& model, std::string_view archive,
                         std::span<const files::Member> members) {
  const bool weights = files::FindMember(members, files::kWeightMember) != nullptr;
  if (!config.json) {
    const auto written = model::WriteWeightsJson(model);
    return fmt::format("{}: {} files, {} bytes{}\n", config.output, members.size(), archive.size(),
                       written ? "" : fmt::format("; without weight.json: {}", written.error().message));
  }
  std::string files;
  for (const files::Member& member : members)
    files += fmt::format("{}{}:{}", files.empty() ? "" : ",", json::Quote(member.name), member.bytes.size());
  return fmt::format(R"({{"output":{},"bytes":{},"sha256":"{}","weights":{},"files":{{{}}}}})"
                     "\n",
                     json::Quote(config.output), archive.size(), model::Sha256(archive), weights, files);
}

/// The component that is named, or the only one.
Result<const model::ComponentModel*> ChosenComponent(const Export& config, const model::PowerModel& model) {
  if (config.component.empty() && model.components.size() == 1) return model.components.data();
  std::string names;
  for (const model::ComponentModel& component : model.components) {
    if (model::Name(component.component) == config.component) return &component;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", model::Name(component.component));
  }
  return Fail(ErrorKind::kInvalid,
              fmt::format("{}: choose one of its components with --component: {}", config.model, names));
}

Status WriteXgboost(const Export& config) {
  const std::string path = config.model + files::kModelFile;
  KEPLER_TRY(const std::string text, files::ReadBounded(path, model::kMaxModelBytes));
  KEPLER_TRY(const model::PowerModel model, files::InFile(path, model::ReadModelJson(text)));
  KEPLER_TRY(const model::ComponentModel* const component, ChosenComponent(config, model));
  auto written = files::InFile(path, model::WriteXgboostJson(model, *component));
  if (!written) return std::unexpected(written.error());
  const std::string report = config.json ? fmt::format(R"({{"output":{},"bytes":{},"sha256":"{}","component":"{}"}})"
                                                       "\n",
                                                       json::Quote(config.output), written->size(),
                                                       model::Sha256(*written), model::Name(component->component))
                                         : fmt::format("{}: {} for XGBoost, {} bytes\n", config.output,
                                                       model::Name(component->component), written->size());
  std::vector<files::OutputFile> files = {{config.output, *std::move(written)}};
  if (config.output != "-") files.push_back({"-", report});
  return files::WriteFiles(files);
}

Status PackDirectory(const Export& config) {
  KEPLER_CHECK_OK(files::CheckOutput(config.output, {config.model}));
  if (config.format == Format::kXgboost) return WriteXgboost(config);
  KEPLER_TRY(const files::SharedModel shared, ReadShared(config.model));
  const std::vector<files::Member> members = files::PackModel(shared);
  KEPLER_TRY(std::string bytes, files::WriteArchive(members));
  const std::string report = ExportReport(config, shared.model, bytes, members);
  std::vector<files::OutputFile> files = {{config.output, std::move(bytes)}};
  if (config.output != "-") files.push_back({"-", report});
  return files::WriteFiles(files);
}

void CheckExport(settings::Draft& draft, const Export& config) {
  if (config.json && config.output == "-") draft.Reject("json", "standard output is used for the file");
  if (!config.component.empty() && config.format == Format::kArchive)
    draft.Reject("component", "an archive has all components; it needs --format=xgboost");
}

}  // namespace

int RunExport(std::span<const char* const> arguments) {
  return RunCommand<Export>("export", kAboutExport, arguments, kExportTable, PackDirectory, CheckExport);
}

}  // namespace kepler::lab::tool
