// kepler-model import --pipeline.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/evaluate.h"
#include "apps/kepler-model/import.h"
#include "base/text.h"
#include "json/document.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/data.h"
#include "lab/judging/folds.h"
#include "lab/judging/report.h"
#include "model/any_json.h"
#include "model/machine_json.h"
#include "modelserver/model_index.h"
#include "modelserver/model_tree.h"

namespace kepler::lab::tool {
namespace {

using modelserver::StoredModel;

/// Measurements of several machines, to test each model on machines that did not train it.
struct OtherMachines {
  judging::DataFile data;
  std::vector<double> types;  // of each row; a number, however a program has written it
};

struct Line {
  std::string name;
  std::string id;
  std::string sha256;
  std::string kind;
  std::string stated;
  model::PowerModel model;
  std::vector<judging::Figures> tested;  // on other machines
  std::string untested_because;
};

struct Skipped {
  std::string file;
  std::string reason;
};

struct Results {
  std::vector<Line> lines;
  std::vector<Skipped> skipped;
  std::set<std::string> notes;
};

/// The place of the archive in the pipeline, as the name of a directory.
std::string NameOf(const StoredModel& stored) {
  std::string name = fmt::format("{}-{}-{}-{}-{}", stored.pipeline, stored.source, model::Name(stored.output),
                                 stored.group, stored.name);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_') c = '-';
  return name;
}

Result<Imported> ReadStoredModel(const StoredModel& stored) {
  const modelserver::StoredFile& file = stored.archive ? *stored.archive : *stored.weights;
  KEPLER_TRY(const std::string bytes, modelserver::ReadStored(file));
  if (stored.archive) return ReadPackedModel(bytes);
  Imported read;
  KEPLER_TRY(read.shared.model, model::ReadAnyModelJson(bytes, {.name = stored.name, .output = stored.output}));
  read.kind = "a weight file";
  return read;
}

/// Tests `line.model` on the rows of other node types, and stores the errors in it.
void TestOnOthers(const OtherMachines& others, const StoredModel& stored, Line& line, std::set<std::string>& notes) {
  if (!stored.type) {
    line.untested_because = "its name does not end in the number of a node type";
    return;
  }
  const double own = *stored.type;
  Evaluation config;
  config.model = line.name;
  auto judged = EvaluateRows(config, line.model, others.data, [&](size_t row) { return others.types[row] != own; });
  if (!judged) {
    line.untested_because = judged.error().message;
    return;
  }
  notes.insert(judged->notes.begin(), judged->notes.end());
  for (const judging::Figures& figures : judged->figures)
    std::ranges::find(line.model.components, figures.target.component, &model::ComponentModel::component)->unseen =
        figures.errors;
  line.tested = std::move(judged->figures);
}

std::string CardOf(const Line& line, const std::string& path, const std::string& data) {
  std::string card = judging::ImportCard(
      {.source = path, .sha256 = line.sha256, .kind = line.kind, .stated = line.stated, .model = line.model});
  if (line.tested.empty()) return card;
  return card +
         fmt::format(
             "\n## Errors on other machines\n\nOn the rows of `{}` that are of other node types:\n\n```\n{}```\n",
             EscapeControls(data), judging::FiguresTable(line.tested));
}

Result<Line> ImportStored(const PipelineImport& config, const StoredModel& stored, const OtherMachines* others,
                          Results& results) {
  if (stored.own) return Fail(ErrorKind::kInvalid, "it is a model of kepler-model already");
  Line line;
  line.name = NameOf(stored);
  line.id = stored.id;
  if (!modelserver::IsModelName(line.name))
    return Fail(ErrorKind::kInvalid, fmt::format("'{}' cannot be the name of a model", line.name));
  if (std::ranges::find(results.lines, line.name, &Line::name) != results.lines.end())
    return Fail(ErrorKind::kInvalid, fmt::format("another archive has the name '{}' too", line.name));
  KEPLER_TRY(Imported read, ReadStoredModel(stored));
  const modelserver::StoredFile& file = stored.archive ? *stored.archive : *stored.weights;
  line.sha256 = file.sha256;
  line.kind = std::move(read.kind);
  line.stated = std::move(read.stated);
  line.model = std::move(read.shared.model);
  line.model.name = line.name;
  if (!line.model.machine) line.model.machine = stored.machine();
  if (others != nullptr) TestOnOthers(*others, stored, line, results.notes);
  const std::string directory = fmt::format("{}/{}", config.output, line.name);
  KEPLER_TRY(std::string text, files::ModelText(line.model));
  const std::vector<files::OutputFile> written = {{directory + files::kModelFile, std::move(text)},
                                                  {directory + files::kCardFile, CardOf(line, file.path, config.data)}};
  KEPLER_CHECK_OK(files::WriteFiles(written));
  KEPLER_CHECK_OK(RemoveSignature(directory));
  return line;
}

std::string JsonOf(const Line& line) {
  std::string components;
  for (const model::ComponentModel& of : line.model.components) {
    const auto tested = std::ranges::find_if(
        line.tested, [&](const judging::Figures& figures) { return figures.target.component == of.component; });
    components += fmt::format(R"({}"{}":{{"trainer":{}{}}})", components.empty() ? "" : ",", model::Name(of.component),
                              json::Quote(of.trainer),
                              tested == line.tested.end()
                                  ? std::string()
                                  : fmt::format(R"(,"other_machines":{{{}}})", judging::ErrorMembers(tested->errors)));
  }
  return fmt::format(
      R"({{"name":{},"from":{},"sha256":"{}","kind":{},"output":"{}","machine":{},"features":{},"stated":{},"components":{{{}}}{}}})",
      json::Quote(line.name), json::Quote(line.id), line.sha256, json::Quote(line.kind), model::Name(line.model.output),
      line.model.machine ? model::WriteMachineJson(*line.model.machine) : "null", json::QuoteList(line.model.features),
      json::Quote(line.stated), components,
      line.untested_because.empty() ? ""
                                    : fmt::format(R"(,"untested_because":{})", json::Quote(line.untested_because)));
}

std::string IndexJson(const PipelineImport& config, const Results& results) {
  std::string models;
  for (const Line& line : results.lines) models += fmt::format("{}\n{}", models.empty() ? "" : ",", JsonOf(line));
  std::string skipped;
  for (const Skipped& file : results.skipped)
    skipped += fmt::format("{}\n{{\"file\":{},\"reason\":{}}}", skipped.empty() ? "" : ",", json::Quote(file.file),
                           json::Quote(file.reason));
  return fmt::format("{{\"pipeline\":{},\"models\":[{}],\"skipped\":[{}]}}\n", json::Quote(config.pipeline), models,
                     skipped);
}

std::string LineText(const Line& line) {
  std::string text = line.name;
  text += fmt::format(": {}", line.model.machine ? EscapeControls(line.model.machine->processor) : "unknown machine");
  text += line.stated.empty() ? "; states no error" : fmt::format("; stated: {}", EscapeControls(line.stated));
  for (const judging::Figures& figures : line.tested)
    text +=
        fmt::format("; on other machines: {} MAE {:.3f} W, MAPE {} %, {} rows", model::Name(figures.target.component),
                    figures.errors.mae_watts, judging::MapeText(figures.errors), figures.errors.rows);
  if (!line.untested_because.empty()) text += "; not tested: " + EscapeControls(line.untested_because);
  return text + "\n";
}

Status Report(const PipelineImport& config, const Results& results) {
  for (const std::string& note : results.notes) Note(note);
  if (config.json) return PrintResult(IndexJson(config, results));
  std::string text;
  for (const Line& line : results.lines) text += LineText(line);
  for (const Skipped& file : results.skipped)
    text += fmt::format("{}: not imported: {}\n", EscapeControls(file.file), EscapeControls(file.reason));
  return PrintResult(text + fmt::format("{}: {} models imported, {} files not\n", config.output, results.lines.size(),
                                        results.skipped.size()));
}

Result<std::optional<OtherMachines>> ReadOthers(const PipelineImport& config) {
  if (config.data.empty()) return std::optional<OtherMachines>();
  OtherMachines others;
  KEPLER_TRY(others.data, judging::ReadData(config.data));
  KEPLER_CHECK_OK(judging::ReadGroups(others.data, config.group));
  KEPLER_TRY(others.types, judging::ReadNumbers(others.data, config.group));
  return others;
}

/// The absolute path without "." and "..". Its last part is the name of the pipeline.
std::filesystem::path DirectoryOf(const std::string& path) {
  return std::filesystem::absolute(path + "/.").lexically_normal().parent_path();
}

/// The results would be files of the pipeline, and the next import would read them. Links are followed.
Status CheckOutside(const PipelineImport& config) {
  const auto resolved = [](const std::string& path) {
    std::error_code failed;
    const auto found = std::filesystem::weakly_canonical(std::filesystem::absolute(path), failed);
    return (failed ? DirectoryOf(path) : found).string() + "/";
  };
  if (!resolved(config.output).starts_with(resolved(config.pipeline))) return {};
  return Fail(ErrorKind::kInvalid, fmt::format("{}: it is in the pipeline {}; use an output directory outside of it",
                                               config.output, config.pipeline));
}

/// Refuses a directory with models that this import does not replace: they would be served, but index.json would not
/// list them.
Status CheckNoOtherModels(const std::string& directory, std::span<const StoredModel> models) {
  namespace fs = std::filesystem;
  std::error_code failed;
  for (fs::directory_iterator at(directory, failed); !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const std::string path = at->path().string();
    const std::string name = at->path().filename().string();
    const auto has_name = [&name](const StoredModel& stored) { return NameOf(stored) == name; };
    std::error_code ignored;
    if (!fs::exists(path + files::kModelFile, ignored) || std::ranges::any_of(models, has_name)) continue;
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}: this model is not of the pipeline; use another output directory, or remove it", path));
  }
  return {};
}

}  // namespace

Status ImportPipeline(const PipelineImport& config) {
  KEPLER_TRY(const auto others, ReadOthers(config));
  KEPLER_CHECK_OK(CheckOutside(config));
  modelserver::ModelTree tree(DirectoryOf(config.pipeline).string());
  KEPLER_TRY(const auto index, tree.Scan());
  KEPLER_CHECK_OK(CheckNoOtherModels(config.output, index->models));
  Results results;
  for (const modelserver::SkippedFile& file : index->skipped) results.skipped.push_back({file.relative, file.reason});
  const Progress progress;
  for (const StoredModel& stored : index->models) {
    progress.Show(stored.id);
    auto line = ImportStored(config, stored, others ? &*others : nullptr, results);
    if (line)
      results.lines.push_back(*std::move(line));
    else
      results.skipped.push_back({stored.id, line.error().message});
  }
  progress.Clear();
  if (results.lines.empty() && results.skipped.empty())
    return Fail(ErrorKind::kNotFound, fmt::format("{}: no archive at SOURCE/OUTPUT/GROUP/MODEL.zip below it, such as "
                                                  "rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_0.zip",
                                                  config.pipeline));
  KEPLER_CHECK_OK(files::WriteFile(config.output + "/index.json", IndexJson(config, results)));
  KEPLER_CHECK_OK(Report(config, results));
  if (results.lines.empty())
    return Fail(ErrorKind::kInvalid, fmt::format("{}: nothing could be imported", config.pipeline));
  return {};
}

}  // namespace kepler::lab::tool
