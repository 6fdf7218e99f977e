// kepler-model predict.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"
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

bool IsShipped(const Prediction& config) { return config.model == judging::kShippedModel; }

/// Says how good the model in the agent is, and in which rows its CPU time cannot be right.
void NoteShipped(const Prediction& config, const model::PowerModel& model, const judging::Machines& machines,
                 const judging::Inputs& inputs) {
  Note(fmt::format("{}: the mean error on other server types is {} % of the whole machine's power", model.name,
                   model.components.back().unseen->mape));
  const model::MachineSpec& machine = machines.by_name.at("");
  if (!model::IsListedProcessor(machine))
    Note(
        fmt::format("{}: processor '{}' states no listed generation, so it counts as {}; state the model number, such "
                    "as processor=intel_xeon_gold_6338",
                    machines.path, machine.processor, model.name));
  constexpr double kJitter = 1.01;  // clocks of CPUs and of the interval differ
  const double all = 1000.0 * machine.cores;
  const auto wrong = std::ranges::count_if(inputs.features.values,
                                           [&](double cpu_ms) { return cpu_ms < 0 || cpu_ms > kJitter * all; });
  if (wrong > 0)
    Note(
        fmt::format("{}: in {} of {} rows, bpf_cpu_time_ms is below 0 or above the {:.0f} ms of all CPUs; their watts "
                    "are those of an idle or a busy machine",
                    config.data, wrong, inputs.features.rows(), all));
}

void CheckMachine(settings::Draft& draft, const Prediction& config) {
  if (IsShipped(config) && config.machine.empty()) draft.Reject("machine", "is required with --model=default");
  if (IsShipped(config) && !config.features.empty())
    draft.Reject("features", "is for XGBoost files; the feature of --model=default is bpf_cpu_time_ms");
}

Status Predict(const Prediction& config) {
  KEPLER_CHECK_OK(files::CheckOutput(config.output, {config.model, config.data, config.machine}));
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, {}));
  KEPLER_TRY(const auto features, judging::GivenFeatures(config.features));
  KEPLER_TRY(const model::PowerModel model, judging::ReadModelFor(config.model, machines, features));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.data));
  KEPLER_TRY(const judging::Inputs inputs, judging::ReadInputs(data, model.features, model.per, machines));
  std::vector<judging::Target> targets;
  targets.reserve(model.components.size());
  for (const model::ComponentModel& of : model.components) targets.push_back({.column = {}, .component = of.component});
  if (IsShipped(config)) {
    NoteShipped(config, model, machines, inputs);
    std::ranges::reverse(targets);  // the whole machine first
  }
  const std::vector<size_t> rows = judging::AllRows(data);
  const auto predictions = judging::PredictRows(model, inputs.features, targets, rows, inputs.cores);
  return files::WriteFile(config.output, judging::PredictionsCsv(judging::RowNames(data), rows, targets, predictions,
                                                                 IsShipped(config) ? "_power" : ""));
}

}  // namespace

int RunPredict(std::span<const char* const> arguments) {
  return RunCommand<Prediction>("predict", kAboutPredict, arguments, kPredictTable, Predict, CheckMachine);
}

}  // namespace kepler::lab::tool
