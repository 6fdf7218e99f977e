// kepler-model retrain.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/decisions.h"
#include "apps/kepler-model/evaluate.h"
#include "apps/kepler-model/sign_key.h"
#include "apps/kepler-model/train.h"
#include "base/parse.h"
#include "base/small_file.h"
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
  std::string sign_key{};
};

constexpr Key kRetrainKeys[] = {
    Key("store", "store", "Store of kepler-model serve", kAt<&Retraining::store>, {.is_path = true, .required = true}),
    Key("name", "name", "Name of the model in the store", kAt<&Retraining::of, &Training::name>, {.required = true}),
    Key("data", "data", "Table of extract, with the latest measurements", kAt<&Retraining::of, &Training::data>,
        {.is_path = true, .required = true}),
    Key("output", "output", "Directory for the new model and for the tables that train and test it",
        kAt<&Retraining::of, &Training::output>, {.is_path = true, .required = true}),
    Key("target", "target", "Columns with measured watts, for which the model is trained",
        kAt<&Retraining::of, &Training::target>),
    Key("features", "features", "Feature columns, or a feature group", kAt<&Retraining::of, &Training::features>,
        {.required = true}),
    Key("trainer", "trainer", "Trainer; auto: the best of several", kAt<&Retraining::of, &Training::trainer>),
    Key("machine", "machine", "Measured machine: JSON file written by kepler-model machine, or KEY=VALUE,...",
        kAt<&Retraining::of, &Training::machine>, {.is_path = true}),
    Key("holdout", "holdout", "Latest part of the table that judges both models and trains none, in percent",
        kAt<&Retraining::holdout>, {.min = 1, .max = 90}),
    Key("min-gain", "min-gain", "Minimum by which the error of the new model must be smaller, in percent",
        kAt<&Retraining::min_gain>, {.min = 0, .max = 100}),
    Key("sign-key", "sign-key", "PEM file with an Ed25519 private key that signs the new version",
        kAt<&Retraining::sign_key>, {.is_path = true}),
};
constexpr settings::TableOf<Retraining> kRetrainTable(kRetrainKeys);

constexpr std::string_view kAboutRetrain =
    R"(Trains a model of the store anew, and publishes it if it is better on data that neither version has seen.

Each decision, with both errors and the reason, is a line of STORE/.versions/NAME/decisions.jsonl.

Examples:
  kepler-model query --server=http://prometheus:9090 --last=7d --node=worker-1 --output=raw.json
  kepler-model extract --input=raw.json --output=table.csv
  kepler-model retrain --store=/var/lib/kepler-models --name=epyc-9654 --data=table.csv --machine=machine.json \
      --features=BPFOnly --output=new --sign-key=key.pem)";

constexpr size_t kMinTestRows = 20;

ModelInStore ModelOf(const Retraining& config) { return {.store = config.store, .name = config.of.name}; }

struct Old {
  std::string text;
  uint32_t version = 0;
  double trained_until = 0;
};

/// The published model; nothing if there is none.
Result<std::optional<Old>> ReadOld(const Retraining& config) {
  // A publish replaces the link to the directory at any time. Both files must be of one version.
  std::error_code error;
  const std::string directory = std::filesystem::canonical(ModelOf(config).Link(), error).string();
  if (error == std::errc::no_such_file_or_directory) return std::nullopt;
  if (error) return FailErrno("find", ModelOf(config).Link(), error.value());
  auto text = ReadSmallFile(directory + files::kModelFile, modelserver::kMaxUploadBytes);
  if (!text && text.error().kind == ErrorKind::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  KEPLER_TRY(const model::PowerModel model, files::InFile(ModelOf(config).Published(), model::ReadModelJson(*text)));
  KEPLER_TRY(const double trained_until, TrainedUntil(ModelOf(config), directory, model.version));
  return Old{.text = *std::move(text), .version = model.version, .trained_until = trained_until};
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

/// Why the new model cannot take the place of the old one for the agents that use it; empty if it can.
std::string WhyNoSuccessor(const model::PowerModel& old, const model::PowerModel& next) {
  if (next.output != old.output)
    return fmt::format("the new model is of {}, and the published one of {}", Name(next.output), Name(old.output));
  for (const model::ComponentModel& of : old.components)
    if (std::ranges::find(next.components, of.component, &model::ComponentModel::component) == next.components.end())
      return fmt::format("the published model has {0}, and the new one has not; add the column of {0} to --target",
                         Name(of.component));
  return {};
}

/// Sum over the components of the old model that the table measures.
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
void Judge(const Retraining& config, const std::string& test, bool has_old, modelserver::Decision& decision) {
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
  evaluation.model = ModelOf(config).Published();
  evaluation.data = test;
  evaluation.machine = config.of.machine;
  const auto old = EvaluateModel(evaluation);
  evaluation.model = config.of.output + files::kModelFile;
  const auto next = EvaluateModel(evaluation);
  if (!old || !next) {
    decision.reason = "cannot judge: " + (old ? next : old).error().message;
    return;
  }
  if (std::string why = WhyNoSuccessor(old->model, next->model); !why.empty()) {
    decision.reason = "cannot judge: " + why;
    return;
  }
  std::tie(decision.old_mae, decision.new_mae) = Compare(*old, *next);
  const double limit = *decision.old_mae * (1 - config.min_gain / 100);
  decision.is_published = *decision.new_mae < limit;
  decision.reason = fmt::format("MAE {:.4g} W, before {:.4g} W, on {} rows that neither has seen; the gain is {} {} %",
                                *decision.new_mae, *decision.old_mae, decision.rows,
                                decision.is_published ? "at least" : "less than", config.min_gain);
}

/// The key, or nothing. Fails before the training if agents that demand a signature could not use the new version.
Result<std::optional<model_store::PrivateKey>> SignKeyOf(const Retraining& config) {
  if (!config.sign_key.empty()) return ReadSignKey(config.sign_key);
  const std::string signature = ModelOf(config).Published() + ".sig";
  std::error_code error;
  const bool is_signed = std::filesystem::exists(signature, error);
  if (error) return FailErrno("find", signature, error.value());
  if (!is_signed) return std::nullopt;
  return Fail(ErrorKind::kInvalid, signature + ": the published version is signed; name the key with --sign-key");
}

/// `replaced`: the text that the new version was judged against; empty if there was none. If another process has
/// published meanwhile, the decision states that this version is not published.
Status PublishSigned(const Retraining& config, const std::optional<model_store::PrivateKey>& key,
                     const std::string& text, std::string_view replaced, modelserver::Decision& decision) {
  std::string signature;
  if (key) {
    KEPLER_TRY(signature, key->Sign(text));
  }
  const auto published = modelserver::Publish(config.store, {.name = config.of.name,
                                                             .json = text,
                                                             .signature = signature,
                                                             .trained_until = decision.trained_until,
                                                             .replaced = replaced,
                                                             .publisher = "kepler-model retrain"});
  if (published) return {};
  const ErrorKind kind = published.error().kind;
  if (kind != ErrorKind::kUnavailable && kind != ErrorKind::kTimeout) return std::unexpected(published.error());
  decision.is_published = false;
  decision.reason = "cannot publish: " + published.error().message;
  return {};
}

Status Retrain(const Retraining& given) {
  Retraining config = given;
  KEPLER_TRY(const auto key, SignKeyOf(config));
  KEPLER_TRY(const auto old, ReadOld(config));
  modelserver::Decision decision;
  decision.old_version = old ? old->version : 0;
  KEPLER_TRY(decision.new_version, NextVersion(ModelOf(config), decision.old_version));
  config.of.model_version = decision.new_version;
  KEPLER_TRY(const Split split, SplitTable(config, old ? old->trained_until : 0));
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
  KEPLER_CHECK_OK(RemoveSignature(config.of.output));
  Judge(config, test, old.has_value(), decision);
  if (decision.is_published)
    KEPLER_CHECK_OK(PublishSigned(config, key, files.front().text, old ? old->text : std::string_view(), decision));
  if (decision.is_published && !key) NoteUnsigned(decision.new_version);
  return Remember(ModelOf(config), decision);
}

void CheckRetraining(settings::Draft& draft, const Retraining& config) {
  if (!config.of.name.empty() && !modelserver::IsModelName(config.of.name))
    draft.Reject("name", modelserver::NoModelName(config.of.name));
  if (config.of.data == "-") draft.Reject("data", "must be a file, because it is read twice");
  if (const std::string why = WhyNoTrainer(config.of.trainer); !why.empty()) draft.Reject("trainer", why);
}

}  // namespace

int RunRetrain(std::span<const char* const> arguments) {
  return RunCommand<Retraining>("retrain", kAboutRetrain, arguments, kRetrainTable, Retrain, CheckRetraining);
}

}  // namespace kepler::lab::tool
