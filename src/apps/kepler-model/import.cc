// kepler-model import.
#include "apps/kepler-model/import.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "base/text.h"
#include "json/document.h"
#include "lab/files/archive.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/data.h"
#include "lab/judging/report.h"
#include "model/any_json.h"
#include "model/file_name.h"
#include "model/sha256.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

/// What somebody says that the watts of a file are.
enum class Watts : uint8_t { kAsSaid, kAbsPower, kDynPower };
constexpr std::string_view kWatts[] = {"as-said"sv, "AbsPower"sv, "DynPower"sv};

struct Import {
  std::string archive;
  std::string pipeline;
  std::string output;
  std::string name;
  std::vector<std::string> features;
  std::string component;
  Watts power = Watts::kAsSaid;
  std::string data;
  std::string group;
  bool json = false;
};

constexpr Key kImportKeys[] = {
    Key("archive", "archive",
        "File to import: an archive of export or of Kepler's model server, a weight file, XGBoost JSON, or "
        "model.json; -: standard input",
        kAt<&Import::archive>, {.is_path = true}),
    Key("pipeline", "pipeline", "Directory of a pipeline in a model database of Kepler 0.7, to import all its archives",
        kAt<&Import::pipeline>, {.is_path = true}),
    Key("output", "output",
        "Directory for model.json and card.md; with --pipeline: for a directory per model, and index.json",
        kAt<&Import::output>, {.is_path = true, .required = true}),
    Key("name", "name", "Name of the model; empty: the name in the file", kAt<&Import::name>),
    Key("features", "features", "Feature names of an XGBoost file without names, in the order of training",
        kAt<&Import::features>),
    Key("component", "component", "Component of the watts of an XGBoost file; empty: package", kAt<&Import::component>),
    Key("power", "power",
        "Kind of power of a weight file or XGBoost file, which do not state it; as-said: AbsPower (all power)",
        kAt<&Import::power>, {.choices = kWatts}),
    Key("data", "data",
        "With --pipeline: CSV file with features and measured watts of several machines, on which each model is tested",
        kAt<&Import::data>, {.is_path = true}),
    Key("group", "group",
        "Column of --data with the number of the node type of each row; rows of the model's own type are left out",
        kAt<&Import::group>),
    Key("json", "json", "Print the result as JSON", kAt<&Import::json>),
};
constexpr settings::TableOf<Import> kImportTable(kImportKeys);

constexpr std::string_view kAboutImport = R"(Converts an archive, or a model of another program, to a model.

Checksums of archives are verified. Archives of Kepler's model server are read whatever trainer made them. Their Python pickles
are read as data: nothing in them is executed, and a pickle that refers to anything but scikit-learn's models is refused.

With --pipeline, each archive becomes a directory that "kepler-model serve --store" and the agent's model.sources read. Models get
the machine of their node type. Errors in the archives are kept as stated ones; with --data, each model is also tested on the
machines that did not train it.

Examples:
  kepler-model import --archive=model.zip --output=model
  kepler-model import --archive=GradientBoostingRegressorTrainer_0.zip --output=model
  kepler-model import --archive=SGDRegressorTrainer_0.json --output=model --power=DynPower
  kepler-model import --archive=booster.json --features=CounterOnly --component=dram --output=model
  kepler-model import --pipeline=models/v0.7/ec2-0.7.11 --output=store
  kepler-model import --pipeline=specpower --output=store --data=servers.csv --group=node_type)";

std::optional<model::OutputType> OutputOf(const Import& config) {
  if (config.power == Watts::kAsSaid) return std::nullopt;
  return config.power == Watts::kAbsPower ? model::OutputType::kAbsPower : model::OutputType::kDynPower;
}

/// Archives say all by themselves.
Status CheckHints(const Import& config) {
  for (const auto& [flag, given] : {std::pair{"--features", !config.features.empty()},
                                    {"--component", !config.component.empty()},
                                    {"--power", config.power != Watts::kAsSaid}})
    if (given) return Fail(ErrorKind::kInvalid, fmt::format("an archive states this itself; remove {}", flag));
  return {};
}

Result<Imported> ReadPacked(const Import& config, std::string_view bytes) {
  KEPLER_CHECK_OK(CheckHints(config));
  return ReadPackedModel(bytes);
}

Result<Imported> ReadBare(const Import& config, std::string_view text) {
  KEPLER_TRY(const auto features, judging::GivenFeatures(config.features));
  const auto component = model::ComponentOf(config.component);
  const std::string name = model::NameOfFile(config.archive == "-" ? "model" : config.archive);
  Imported read;
  KEPLER_TRY(read.shared.model,
             model::ReadAnyModelJson(text, {.name = name,
                                            .features = features,
                                            .component = component.value_or(model::Component::kPackage),
                                            .output = OutputOf(config)}));
  read.kind = "a JSON file";
  return read;
}

std::string ImportReport(const Import& config, const Imported& read, std::string_view sha256) {
  const model::PowerModel& model = read.shared.model;
  if (!config.json) {
    std::string components;
    for (const model::ComponentModel& of : model.components)
      components += fmt::format("{}{}", components.empty() ? "" : ", ", model::Name(of.component));
    return fmt::format("{}: {} from {}: {} of {} features\n", config.output, EscapeControls(model.name),
                       EscapeControls(read.kind), components, model.features.size());
  }
  std::string components;
  for (const model::ComponentModel& of : model.components)
    components += fmt::format("{}{}:{{\"trainer\":{}}}", components.empty() ? "" : ",",
                              json::Quote(model::Name(of.component)), json::Quote(of.trainer));
  return fmt::format(
      R"({{"model":{},"archive":{},"sha256":"{}","kind":{},"name":{},"version":{},"output":"{}","features":{},)"
      R"("components":{{{}}}}})"
      "\n",
      json::Quote(config.output), json::Quote(config.archive), sha256, json::Quote(read.kind), json::Quote(model.name),
      model.version, model::Name(model.output), json::QuoteList(model.features), components);
}

/// Whether that changes anything. The card says it, too.
bool Rename(const std::string& name, Imported& read) {
  std::string& own = read.shared.model.name;
  if (name.empty() || name == own) return false;
  if (read.has_card) read.shared.card = judging::RenamedCard(read.shared.card, own, name);
  own = name;
  return true;
}

Status ImportFile(const Import& config) {
  std::vector<files::OutputFile> files = {
      {config.output + files::kModelFile, {}}, {config.output + files::kCardFile, {}}, {"-", {}}};
  for (const files::OutputFile& file : files) {
    KEPLER_CHECK_OK(files::CheckFile(file.path));
    KEPLER_CHECK_OK(files::CheckOutput(file.path, {config.archive}));
  }
  KEPLER_TRY(const std::string bytes, files::ReadBounded(config.archive, files::kMaxArchiveBytes));
  auto read = files::LooksLikeArchive(bytes) ? ReadPacked(config, bytes) : ReadBare(config, bytes);
  if (!read) return files::InFile(config.archive, read.error());
  const std::string sha256 = model::Sha256(bytes);
  const bool is_renamed = Rename(config.name, *read);
  const bool as_it_was = read->has_card && !is_renamed;
  KEPLER_TRY(files[0].text, as_it_was ? Result<std::string>(read->shared.json) : files::ModelText(read->shared.model));
  files[1].text = read->has_card ? read->shared.card
                                 : judging::ImportCard({.source = config.archive,
                                                        .sha256 = sha256,
                                                        .kind = read->kind,
                                                        .stated = read->stated,
                                                        .model = read->shared.model});
  if (files[1].text.size() > files::kMaxCardBytes)
    return Fail(ErrorKind::kInvalid, fmt::format("{}: its card would be larger than the maximum of {} MiB",
                                                 config.archive, files::kMaxCardBytes >> 20));
  files[2].text = ImportReport(config, *read, sha256);
  KEPLER_CHECK_OK(files::WriteFiles(files));
  return RemoveSignature(config.output);
}

Status RunEither(const Import& config) {
  if (config.pipeline.empty()) return ImportFile(config);
  return ImportPipeline({.pipeline = config.pipeline,
                         .output = config.output,
                         .data = config.data,
                         .group = config.group,
                         .json = config.json});
}

void CheckPipeline(settings::Draft& draft, const Import& config) {
  for (const auto& [key, is_given] : {std::pair{"archive", !config.archive.empty()},
                                      {"name", !config.name.empty()},
                                      {"features", !config.features.empty()},
                                      {"component", !config.component.empty()},
                                      {"power", config.power != Watts::kAsSaid}})
    if (is_given) draft.Reject(key, "cannot be used with --pipeline");
  if (config.data.empty() != config.group.empty())
    draft.Reject(config.data.empty() ? "group" : "data", "--data and --group need each other");
}

void CheckImport(settings::Draft& draft, const Import& config) {
  if (!config.pipeline.empty()) return CheckPipeline(draft, config);
  if (config.archive.empty()) draft.Reject("archive", "set --archive or --pipeline");
  if (!config.data.empty() || !config.group.empty()) draft.Reject("data", "needs --pipeline");
  if (const auto name = model::CheckName(config.name); !name) draft.Reject("name", name.error().message);
  if (!config.component.empty() && !model::ComponentOf(config.component))
    draft.Reject("component", "it is not one of package, core, uncore, dram, platform");
  if (const auto features = judging::GivenFeatures(config.features); !features)
    draft.Reject("features", features.error().message);
}

}  // namespace

Result<Imported> ReadPackedModel(std::string_view bytes) {
  KEPLER_TRY(const auto members, files::ReadArchive(bytes));
  Imported read;
  if (files::IsPackedModel(members)) {
    KEPLER_TRY(read.shared, files::UnpackModel(members));
    read.kind = "an archive of kepler-model";
    read.has_card = true;
    return read;
  }
  KEPLER_TRY(auto server, files::ReadServerArchive(members));
  read.shared.model = std::move(server.model);
  read.kind = "an archive of Kepler's model server";
  if (!server.weights_because.empty())
    read.kind =
        fmt::format("weight.json in {}, which may be of an earlier training; the formula itself is incomplete: {}",
                    read.kind, server.weights_because);
  read.stated = std::move(server.stated);
  return read;
}

int RunImport(std::span<const char* const> arguments) {
  return RunCommand<Import>("import", kAboutImport, arguments, kImportTable, RunEither, CheckImport);
}

}  // namespace kepler::lab::tool
