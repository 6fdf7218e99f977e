// kepler-model evaluate.
#include "apps/kepler-model/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/kepler-model/commands.h"
#include "lab/dataset/isolation.h"
#include "lab/judging/inputs.h"
#include "lab/judging/report.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Evaluating {
  Evaluation of;
  bool json = false;
};

constexpr Key kEvaluateKeys[] = {
    Key("model", "model",
        "Model directory or file; also a weight file or XGBoost JSON; default: the model in the agent",
        kAt<&Evaluating::of, &Evaluation::model>, {.is_path = true, .required = true}),
    Key("data", "data", "CSV file with features and measured watts; -: standard input",
        kAt<&Evaluating::of, &Evaluation::data>, {.is_path = true, .required = true}),
    Key("target", "target",
        "Columns of measured watts; none: the columns of the model's components, such as package_power or "
        "package_watts",
        kAt<&Evaluating::of, &Evaluation::target>),
    Key("component", "component", "Component of each target, if its name does not contain it",
        kAt<&Evaluating::of, &Evaluation::component>),
    Key("features", "features", "Feature names of an XGBoost file without names, in the order of training",
        kAt<&Evaluating::of, &Evaluation::features>),
    Key("machine", "machine",
        "Machine, for attributes that the table lacks: JSON file of one machine or of several by name, or "
        "KEY=VALUE,...",
        kAt<&Evaluating::of, &Evaluation::machine>, {.is_path = true}),
    Key("json", "json", "Print the figures as JSON", kAt<&Evaluating::json>),
};
constexpr settings::TableOf<Evaluating> kEvaluateTable(kEvaluateKeys);

constexpr std::string_view kAboutEvaluate = R"(Compares predictions of a model with measurements.

MAE is the mean absolute error in watts. MAPE is the mean error in percent of the measured value, over rows of at least 1 mW.
R2 is the explained part of the variance. Errors on training rows are too small.

Example:
  kepler-model evaluate --model=model --data=another-day.csv --json)";

/// Those components of the model whose column is there.
Result<std::vector<judging::Target>> TargetsInFile(const model::PowerModel& model, const judging::DataFile& data,
                                                   std::vector<std::string>& notes) {
  std::vector<judging::Target> targets;
  std::string missing;
  for (const model::ComponentModel& of : model.components) {
    const std::string power = fmt::format("{}_power", model::Name(of.component));
    const bool is_dynamic = model.output == model::OutputType::kDynPower;
    std::string column = is_dynamic ? judging::FindTarget(data, power) : power;
    if (!judging::FindColumn(data, column)) column = fmt::format("{}_watts", model::Name(of.component));
    if (judging::FindColumn(data, column))
      targets.push_back({.column = std::move(column), .component = of.component});
    else
      missing = power;
  }
  if (targets.empty())
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}: no column '{}' of measured watts; set --target", data.path, missing));
  if (!missing.empty()) notes.push_back(fmt::format("{}: no column '{}'; skipping that component", data.path, missing));
  return targets;
}

Result<std::vector<judging::Target>> GivenTargets(const model::PowerModel& model, const Evaluation& config) {
  const std::vector<std::string> columns = judging::SplitItems(config.target);
  const std::vector<std::string> components = judging::SplitItems(config.component);
  auto resolved = judging::ResolveTargets(columns, components);
  const bool no_doubt = columns.size() == 1 && components.empty() && model.components.size() == 1;
  if (!resolved && no_doubt)  // a name that says nothing
    return std::vector<judging::Target>{{.column = columns.front(), .component = model.components.front().component}};
  if (!resolved) return resolved;
  for (const judging::Target& target : *resolved)
    if (const auto found = judging::FindComponent(config.model, model, target); !found)
      return std::unexpected(found.error());
  return resolved;
}

/// Notes columns that may have other watts than the model predicts: the error would include idle power. Only the user
/// knows, because watts of a guest are without idle power under any name, and weight files do not state their output.
void NoteOutput(const model::PowerModel& model, const judging::DataFile& data, std::span<const judging::Target> targets,
                std::vector<std::string>& notes) {
  const bool wants_dynamic = model.output == model::OutputType::kDynPower;
  for (const judging::Target& target : targets)
    if (dataset::IsDynamic(target.column) != wants_dynamic)
      notes.push_back(fmt::format("{}: the model predicts {}; check that column '{}' has the same", data.path,
                                  wants_dynamic ? "power without idle power (DynPower)" : "all power (AbsPower)",
                                  target.column));
}

/// A file of XGBoost does not say what its watts are of: the target does.
Result<model::PowerModel> ReadModelOf(const Evaluation& config) {
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, {}));
  KEPLER_TRY(const auto features, judging::GivenFeatures(config.features));
  const auto targets =
      judging::ResolveTargets(judging::SplitItems(config.target), judging::SplitItems(config.component));
  return judging::ReadModelFor(
      config.model, machines, features,
      targets && targets->size() == 1 ? targets->front().component : model::Component::kPackage);
}

Status Evaluate(const Evaluating& config) {
  KEPLER_TRY(const Evaluated judged, EvaluateModel(config.of));
  const bool has_domain = !judged.model.domain.empty();
  if (config.json)
    return PrintResult(judging::FiguresJson(
        has_domain ? fmt::format(R"("outside_domain":{},)", judged.outside) : std::string(), judged.figures));
  return PrintResult(judging::FiguresTable(judged.figures) +
                     (has_domain ? fmt::format("{} of {} rows are outside the training range of the model\n",
                                               judged.outside, judged.rows)
                                 : "the model does not state its training range\n"));
}

}  // namespace

Result<Evaluated> EvaluateRows(const Evaluation& config, model::PowerModel model, const judging::DataFile& data,
                               const std::function<bool(size_t row)>& is_tested) {
  Evaluated result;
  KEPLER_TRY(const std::vector<judging::Target> targets,
             config.target.empty() ? TargetsInFile(model, data, result.notes) : GivenTargets(model, config));
  NoteOutput(model, data, targets, result.notes);
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, {}));
  KEPLER_TRY(const judging::Inputs inputs, judging::ReadInputs(data, model.features, model.per, machines));
  std::vector<std::vector<double>> measured;
  for (const judging::Target& target : targets) {
    KEPLER_TRY(std::vector<double> watts, judging::ReadWatts(data, target.column));
    measured.push_back(std::move(watts));
  }
  KEPLER_TRY(std::vector<size_t> rows, UsableRows(data, targets, measured));
  std::erase_if(rows, [&](size_t row) { return !is_tested(row); });
  if (rows.empty()) return Fail(ErrorKind::kInvalid, fmt::format("{}: no row to test the model on", data.path));
  const auto predictions = judging::PredictRows(model, inputs.features, targets, rows, inputs.cores);
  for (size_t i = 0; i < targets.size(); ++i) {
    KEPLER_TRY(const auto* const component, judging::FindComponent(config.model, model, targets[i]));
    result.figures.push_back({.target = targets[i],
                              .trainer = component->trainer,
                              .errors = training::Judge(predictions[i], judging::Pick(measured[i], rows))});
  }
  result.rows = rows.size();
  result.outside = static_cast<size_t>(std::ranges::count_if(rows, [&](size_t row) {
    const double cores = inputs.cores.empty() ? 1 : inputs.cores[row];
    return model::EstimateRow(model, inputs.features.row(row), cores).extrapolated;
  }));
  result.model = std::move(model);
  return result;
}

Result<Evaluated> EvaluateModel(const Evaluation& config) {
  KEPLER_TRY(model::PowerModel model, ReadModelOf(config));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.data));
  KEPLER_TRY(Evaluated result, EvaluateRows(config, std::move(model), data, [](size_t) { return true; }));
  for (const std::string& note : result.notes) Note(note);
  return result;
}

int RunEvaluate(std::span<const char* const> arguments) {
  return RunCommand<Evaluating>("evaluate", kAboutEvaluate, arguments, kEvaluateTable, Evaluate);
}

}  // namespace kepler::lab::tool
