// kepler-model predict.
#include <string>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/data.h"
#include "lab/judging/fitting.h"
#include "lab/judging/inputs.h"

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
    Key("model", "model", "Model directory or file; also a weight file or XGBoost JSON", kAt<&Prediction::model>,
        {.is_path = true, .required = true}),
    Key("data", "data", "CSV file with the model's features; -: standard input", kAt<&Prediction::data>,
        {.is_path = true, .required = true}),
    Key("features", "features", "Feature names of an XGBoost file without names, in the order of training",
        kAt<&Prediction::features>),
    Key("machine", "machine", "JSON file of the machine, or of several by name, for attributes that the table lacks",
        kAt<&Prediction::machine>, {.is_path = true}),
    Key("output", "output", "CSV file for row,prediction, or one column per component; -: standard output",
        kAt<&Prediction::output>, {.is_path = true}),
};
constexpr settings::TableOf<Prediction> kPredictTable(kPredictKeys);

constexpr std::string_view kAboutPredict = R"(Writes the prediction of a model for each row of a table, in watts.

Example:
  kepler-model predict --model=model --data=today.csv --output=watts.csv)";

Status Predict(const Prediction& config) {
  KEPLER_CHECK_OK(files::CheckWritable(config.output));
  KEPLER_TRY(const auto given, judging::GivenFeatures(config.features));
  KEPLER_TRY(const model::PowerModel model, files::ReadModel(config.model, given));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.data));
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, {}));
  KEPLER_TRY(const judging::Inputs inputs, judging::ReadInputs(data, model.features, model.per, machines));
  std::vector<judging::Target> targets;
  targets.reserve(model.components.size());
  for (const model::ComponentModel& of : model.components) targets.push_back({.column = {}, .component = of.component});
  const std::vector<size_t> rows = judging::AllRows(data);
  const auto predictions = judging::PredictRows(model, inputs.features, targets, rows, inputs.cores);
  return files::WriteFile(config.output, judging::PredictionsCsv(judging::RowNames(data), rows, targets, predictions));
}

}  // namespace

int RunPredict(std::span<const char* const> arguments) {
  return RunCommand<Prediction>("predict", kAboutPredict, arguments, kPredictTable, Predict);
}

}  // namespace kepler::lab::tool
