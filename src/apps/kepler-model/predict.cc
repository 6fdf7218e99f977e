// kepler-model predict.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/data.h"
#include "lab/judging/fitting.h"
#include "lab/judging/inputs.h"
#include "model/default_model.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Prediction {
  std::string model;
  std::string data;
  std::vector<std::string> features;
  std::string machine;
  std::string output = "-";
};

constexpr Key kPredictKeys[] = {
    Key("model", "model",
        "Model directory or file; also a weight file or XGBoost JSON; default: the model in the agent",
        kAt<&Prediction::model>, {.is_path = true, .required = true}),
    Key("data", "data", "CSV file with the model's features; -: standard input", kAt<&Prediction::data>,
        {.is_path = true, .required = true}),
    Key("features", "features", "Feature names of an XGBoost file without names, in the order of training",
        kAt<&Prediction::features>),
    Key("machine", "machine",
        "Machine, for --model=default or attributes that the table lacks: JSON file of one machine or of several by "
        "name, or "
        "processor=NAME,cores=N,chips=N,memory=GIB,frequency=MHZ",
        kAt<&Prediction::machine>, {.is_path = true}),
    Key("output", "output", "CSV file for row,prediction, or one column per component; -: standard output",
        kAt<&Prediction::output>, {.is_path = true}),
};
constexpr settings::TableOf<Prediction> kPredictTable(kPredictKeys);

constexpr std::string_view kAboutPredict = R"(Writes the prediction of a model for each row of a table, in watts.

Example:
  kepler-model predict --model=model --data=today.csv --output=watts.csv
  kepler-model predict --model=default --machine=processor=amd_epyc_7763,cores=128,threads_per_core=2 --data=today.csv)";

constexpr std::string_view kShippedModel = "default";

Result<model::PowerModel> ModelOf(const Prediction& config) {
  if (config.model != kShippedModel) {
    KEPLER_TRY(const auto given, judging::GivenFeatures(config.features));
    return files::ReadModel(config.model, given);
  }
  KEPLER_TRY(model::MachineSpec machine, files::ReadMachine(config.machine));
  // A file of `kepler-model machine` has the maximum frequency, not the nominal one. The agent leaves it out, too.
  if (std::filesystem::exists(config.machine)) machine.frequency_mhz = 0;
  if (machine.cores == 0)
    return Fail(ErrorKind::kInvalid, config.machine +
                                         ": it has no number of cores, which the default model needs; add "
                                         "cores=N");
  model::PowerModel model = model::DefaultModel(machine);
  Note(fmt::format("{}: the mean error on other server types is {} % of the whole machine's power", model.name,
                   model.components.back().unseen->mape));
  return model;
}

void CheckMachine(settings::Draft& draft, const Prediction& config) {
  if (config.model == kShippedModel && config.machine.empty())
    draft.Reject("machine", "is required with --model=default");
  if (config.model == kShippedModel && !config.features.empty())
    draft.Reject("features", "is for XGBoost files; the feature of --model=default is bpf_cpu_time_ms");
}

Status Predict(const Prediction& config) {
  KEPLER_CHECK_OK(files::CheckWritable(config.output));
  KEPLER_TRY(const model::PowerModel model, ModelOf(config));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.data));
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, {}));
  KEPLER_TRY(const judging::Inputs inputs, judging::ReadInputs(data, model.features, model.per, machines));
  std::vector<judging::Target> targets;
  targets.reserve(model.components.size());
  for (const model::ComponentModel& of : model.components) targets.push_back({.column = {}, .component = of.component});
  const bool is_shipped = config.model == kShippedModel;
  if (is_shipped) std::ranges::reverse(targets);  // the whole machine first
  const std::vector<size_t> rows = judging::AllRows(data);
  const auto predictions = judging::PredictRows(model, inputs.features, targets, rows, inputs.cores);
  return files::WriteFile(config.output, judging::PredictionsCsv(judging::RowNames(data), rows, targets, predictions,
                                                                 is_shipped ? "_power" : ""));
}

}  // namespace

int RunPredict(std::span<const char* const> arguments) {
  return RunCommand<Prediction>("predict", kAboutPredict, arguments, kPredictTable, Predict, CheckMachine);
}

}  // namespace kepler::lab::tool
