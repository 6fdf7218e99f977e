// kepler-model export.
#include <fmt/format.h>

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

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Export {
  std::string model;
  std::string output;
  bool json = false;
};

constexpr Key kExportKeys[] = {
    Key("model", "model", "Model directory with model.json and card.md", kAt<&Export::model>,
        {.is_path = true, .required = true}),
    Key("output", "output", "The archive (.zip); -: standard output", kAt<&Export::output>,
        {.is_path = true, .required = true}),
    Key("json", "json", "Print the contents as JSON", kAt<&Export::json>),
};
constexpr settings::TableOf<Export> kExportTable(kExportKeys);

constexpr std::string_view kAboutExport = R"(Packs a model into an archive.

The archive contains model.json, card.md, metadata.json and SHA256SUMS. It also contains weight.json for Kepler 0.7, if that
format can express the model: linear models, and curves from such a file. Curves of train limit their feature and are left out.
The same model gives the same bytes.

Examples:
  kepler-model export --model=model --output=model.zip
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

Status PackDirectory(const Export& config) {
  KEPLER_CHECK_OK(files::CheckWritable(config.output));
  KEPLER_TRY(const files::SharedModel shared, ReadShared(config.model));
  const std::vector<files::Member> members = files::PackModel(shared);
  KEPLER_TRY(std::string bytes, files::WriteArchive(members));
  const std::string report = ExportReport(config, shared.model, bytes, members);
  std::vector<files::OutputFile> files = {{config.output, std::move(bytes)}};
  if (config.output != "-") files.push_back({"-", report});
  return files::WriteFiles(files);
}

void CheckExport(settings::Draft& draft, const Export& config) {
  if (config.json && config.output == "-") draft.Reject("json", "standard output is used for the archive");
}

}  // namespace

int RunExport(std::span<const char* const> arguments) {
  return RunCommand<Export>("export", kAboutExport, arguments, kExportTable, PackDirectory, CheckExport);
}

}  // namespace kepler::lab::tool
