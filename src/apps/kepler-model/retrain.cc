// kepler-model retrain.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/evaluate.h"
#include "apps/kepler-model/train.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/small_file.h"
#include "json/document.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/inputs.h"
#include "model/model_json.h"
#include "modelserver/model_index.h"
#include "modelserver/publisher.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Retraining {
  Training of;
  std::string store;
  double holdout = 20;  // percent
  double min_gain = 1;  // percent
  bool roll_back = false;
};

constexpr Key kRetrainKeys[] = {
    Key("store", "store", "Store of kepler-model serve", kAt<&Retraining::store>, {.is_path = true, .required = true}),
    Key("name", "name", "Name of the model in the store", kAt<&Retraining::of, &Training::name>, {.required = true}),
    Key("data", "data", "Table of extract, with the latest measurements", kAt<&Retraining::of, &Training::data>,
        {.is_path = true}),
    Key("output", "output", "Directory for the new model and for the tables that train and test it",
        kAt<&Retraining::of, &Training::output>, {.is_path = true}),
    Key("target", "target", "Columns of watts to predict", kAt<&Retraining::of, &Training::target>),
    Key("features", "features", "Feature columns, or a feature group", kAt<&Retraining::of, &Training::features>),
    Key("trainer", "trainer", "Trainer; auto: the best of several", kAt<&Retraining::of, &Training::trainer>),
    Key("machine", "machine", "Measured machine: JSON file written by kepler-model machine, or KEY=VALUE,...",
        kAt<&Retraining::of, &Training::machine>, {.is_path = true}),
    Key("holdout", "holdout", "Latest part of the table that judges both models and trains none, in percent",
        kAt<&Retraining::holdout>, {.min = 1, .max = 90}),
    Key("min-gain", "min-gain", "Minimum by which the error of the new model must be smaller, in percent",
        kAt<&Retraining::min_gain>, {.min = 0, .max = 100}),
    Key("roll-back", "roll-back", "Publish the version before the published one again, as a new version",
        kAt<&Retraining::roll_back>),
};
constexpr settings::TableOf<Retraining> kRetrainTable(kRetrainKeys);

constexpr std::string_view kAboutRetrain =
    R"(Trains a model of the store anew, and publishes it if it is better on data that neither version has seen.

Each decision, with both errors and the reason, is a line of STORE/.versions/NAME/decisions.jsonl.

Examples:
  kepler-model query --server=http://prometheus:9090 --last=7d --node=worker-1 --output=raw.json
  kepler-model extract --input=raw.json --output=table.csv
  kepler-model retrain --store=/var/lib/kepler-models --name=epyc-9654 --data=table.csv --machine=machine.json \
      --features=BPFOnly --output=new
  kepler-model retrain --store=/var/lib/kepler-models --name=epyc-9654 --roll-back)";

constexpr size_t kMinTestRows = 20;
constexpr size_t kMaxDecisionBytes = size_t{16} << 20;

struct Decision {
  uint32_t old_version = 0;  // 0: there is none
  uint32_t new_version = 1;
  std::optional<double> old_mae{};
  std::optional<double> new_mae{};
  size_t rows = 0;           // that judged both
  double trained_until = 0;  // Unix seconds
  bool is_published = false;
  std::string reason{};
};

std::string VersionsOf(const Retraining& config) { return config.store + "/.versions/" + config.of.name; }
std::string PublishedOf(const Retraining& config) {
  return fmt::format("{}/models/{}{}", config.store, config.of.name, files::kModelFile);
}

std::string JsonOf(const Decision& of, const std::string& name) {
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : "null"; };
  const double now = std::chrono::duration<double>(SystemClock().Wall().time_since_epoch()).count();
  return fmt::format(
      R"({{"time":{:.0f},"name":{},"old_version":{},"new_version":{},"old_mae":{},"new_mae":{},"rows":{},)"
      R"("trained_until":{:.3f},"published":{},"reason":{}}})",
      now, json::Quote(name), of.old_version, of.new_version, number(of.old_mae), number(of.new_mae), of.rows,
      of.trained_until, of.is_published, json::Quote(of.reason));
}

/// Adds a line. A line that a crash cut is skipped by readers.
Status Remember(const Retraining& config, const Decision& decision) {
  const std::string path = VersionsOf(config) + "/decisions.jsonl";
  std::error_code error;
  std::filesystem::create_directories(VersionsOf(config), error);
  if (error) return FailErrno("create", VersionsOf(config), error.value());
  const std::string line = JsonOf(decision, config.of.name);
  std::ofstream file(path, std::ios::app);
  file << line << '\n' << std::flush;
  if (!file) return FailErrno("write", path);
  return PrintResult(line + "\n");
}

/// Until when the data of a published version were; 0: unknown.
double TrainedUntil(const Retraining& config, uint32_t version) {
  const auto text = ReadSmallFile(VersionsOf(config) + "/decisions.jsonl", kMaxDecisionBytes);
  if (!text) return 0;
  double until = 0;
  Splitter lines(*text, '\n');
  while (const auto line = lines.Next()) {
    const auto document = json::Parse(*line);
    if (!document) continue;
    const json::Cursor root(*document);
    const auto published = root.Member("published");
    if (!published || !published->Bool().value_or(false) || root.Number("new_version").value_or(0) != version) continue;
    until = root.Number("trained_until").value_or(0);
  }
  return until;
}

/// The published model; nothing if there is none.
Result<std::optional<model::PowerModel>> ReadOld(const Retraining& config) {
  const auto text = ReadSmallFile(PublishedOf(config), modelserver::kMaxUploadBytes);
  if (!text && text.error().kind == ErrorKind::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  KEPLER_TRY(model::PowerModel old, files::InFile(PublishedOf(config), model::ReadModelJson(*text)));
  return old;
}

struct Split {
  std::string train;  // CSV
  std::string test;
  size_t test_rows = 0;
  double trained_until = 0;
};

/// The first rows train. Of the rest, those after `seen_until` test.
Result<Split> SplitTable(const Retraining& config, double seen_until) {
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.of.data));
  KEPLER_TRY(const std::vector<double> times, judging::ReadNumbers(data, "timestamp"));
  KEPLER_TRY(const std::string text, files::ReadBounded(config.of.data, files::kMaxDataBytes));
  const auto trained = static_cast<size_t>(static_cast<double>(times.size()) * (1 - config.holdout / 100));
  if (trained == 0 || !std::ranges::is_sorted(times))
    return Fail(ErrorKind::kInvalid, config.of.data + ": it has too few rows, or they are not in the order of time");
  Split split{.train = {}, .test = {}, .trained_until = times[trained - 1]};
  const double tested_from = std::max(seen_until, split.trained_until);
  Splitter lines(text, '\n');
  split.train = split.test = std::string(lines.Next().value_or("")) + "\n";
  for (size_t row = 0; row < times.size();) {
    const auto line = lines.Next();
    if (!line)
      return Fail(ErrorKind::kMalformed, config.of.data + ": a cell has a line break, which retrain cannot read");
    if (Trim(*line).empty()) continue;
    if (row < trained) split.train += std::string(*line) + "\n";
    const bool is_test = row >= trained && times[row] > tested_from;
    if (is_test) split.test += std::string(*line) + "\n";
    split.test_rows += is_test ? 1 : 0;
    ++row;
  }
  return split;
}

/// Sum over the components that both have.
std::pair<double, double> Compare(const Evaluated& old, const Evaluated& next) {
  std::pair<double, double> sums;
  for (const judging::Figures& of : next.figures)
    for (const judging::Figures& before : old.figures) {
      if (before.target.component != of.target.component) continue;
      sums.first += before.errors.mae_watts;
      sums.second += of.errors.mae_watts;
    }
  return sums;
}

/// Fills errors, and whether the new model is published and why.
void Judge(const Retraining& config, const std::string& test, bool has_old, Decision& decision) {
  if (!has_old) {
    decision.is_published = true;
    decision.reason = "there is no published model of this name";
    return;
  }
  if (decision.rows < kMinTestRows) {
    decision.reason = fmt::format("only {} rows are new to both models; {} are needed", decision.rows, kMinTestRows);
    return;
  }
  Evaluation evaluation;
  evaluation.model = PublishedOf(config);
  evaluation.data = test;
  evaluation.machine = config.of.machine;
  const auto old = EvaluateModel(evaluation);
  evaluation.model = config.of.output + files::kModelFile;
  const auto next = EvaluateModel(evaluation);
  if (!old || !next) {
    decision.reason = "cannot judge: " + (old ? next : old).error().message;
    return;
  }
  std::tie(decision.old_mae, decision.new_mae) = Compare(*old, *next);
  const double limit = *decision.old_mae * (1 - config.min_gain / 100);
  decision.is_published = *decision.new_mae < limit;
  decision.reason = fmt::format("MAE {:.4g} W, before {:.4g} W, on {} rows that neither has seen; the gain is {} {} %",
                                *decision.new_mae, *decision.old_mae, decision.rows,
                                decision.is_published ? "at least" : "less than", config.min_gain);
}

Status Retrain(const Retraining& given) {
  Retraining config = given;
  KEPLER_TRY(const auto old, ReadOld(config));
  Decision decision;
  decision.old_version = old ? old->version : 0;
  decision.new_version = decision.old_version + 1;
  config.of.model_version = decision.new_version;
  KEPLER_TRY(const Split split, SplitTable(config, old ? TrainedUntil(config, old->version) : 0));
  decision.rows = split.test_rows;
  decision.trained_until = split.trained_until;
  const std::string test = config.of.output + "/test.csv";
  config.of.data = config.of.output + "/train.csv";
  KEPLER_CHECK_OK(files::WriteFiles(std::vector<files::OutputFile>{{config.of.data, split.train}, {test, split.test}}));
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.of.machine, {}));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.of.data));
  KEPLER_TRY(const Trained trained, TrainOn(config.of, data, machines, {}));
  KEPLER_TRY(const auto files, ModelFiles(config.of, data, trained));
  KEPLER_CHECK_OK(files::WriteFiles(files));
  Judge(config, test, old.has_value(), decision);
  if (decision.is_published)
    KEPLER_CHECK_OK(
        modelserver::Publish(config.store, {.name = config.of.name, .json = files.front().text, .signature = {}}));
  return Remember(config, decision);
}

/// The newest version in the store below `version`.
Result<model::PowerModel> ReadBefore(const Retraining& config, uint32_t version) {
  std::optional<model::PowerModel> best;
  std::error_code error;
  for (std::filesystem::directory_iterator at(VersionsOf(config), error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto text = ReadSmallFile(at->path().string() + files::kModelFile, modelserver::kMaxUploadBytes);
    if (!text) continue;
    auto read = model::ReadModelJson(*text);
    if (read && read->version < version && (!best || read->version > best->version)) best = *std::move(read);
  }
  if (!best)
    return Fail(ErrorKind::kNotFound, fmt::format("{}: there is no version before {}", VersionsOf(config), version));
  return *std::move(best);
}

/// As a new version, because agents refuse an older version than theirs.
Status RollBack(const Retraining& config) {
  KEPLER_TRY(const auto published, ReadOld(config));
  if (!published) return Fail(ErrorKind::kNotFound, PublishedOf(config) + ": there is no such model");
  KEPLER_TRY(model::PowerModel before, ReadBefore(config, published->version));
  Decision decision;
  decision.reason =
      fmt::format("rolled back to version {}; sign it again if agents demand a signature", before.version);
  decision.trained_until = TrainedUntil(config, before.version);
  decision.old_version = published->version;
  before.version = decision.new_version = published->version + 1;
  KEPLER_TRY(const std::string text, files::ModelText(before));
  KEPLER_CHECK_OK(modelserver::Publish(config.store, {.name = config.of.name, .json = text, .signature = {}}));
  decision.is_published = true;
  return Remember(config, decision);
}

void CheckRetraining(settings::Draft& draft, const Retraining& config) {
  if (!config.of.name.empty() && !modelserver::IsModelName(config.of.name))
    draft.Reject("name", "has letters, digits, '.', '_' and '-', and does not begin with '.'");
  if (config.roll_back) return;
  if (config.of.data.empty()) draft.Reject("data", "is missing");
  if (config.of.output.empty()) draft.Reject("output", "is missing");
  if (config.of.features.empty()) draft.Reject("features", "is missing");
  if (const std::string why = WhyNoTrainer(config.of.trainer); !why.empty()) draft.Reject("trainer", why);
}

}  // namespace

int RunRetrain(std::span<const char* const> arguments) {
  return RunCommand<Retraining>(
      "retrain", kAboutRetrain, arguments, kRetrainTable,
      [](const Retraining& config) { return config.roll_back ? RollBack(config) : Retrain(config); }, CheckRetraining);
}

}  // namespace kepler::lab::tool
