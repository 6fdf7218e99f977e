// kepler-model train.
#include "apps/kepler-model/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/train_checks.h"
#include "base/text.h"
#include "daemon/run.h"
#include "json/document.h"
#include "lab/dataset/isolation.h"
#include "lab/files/model_file.h"
#include "lab/judging/folds.h"
#include "lab/judging/report.h"

namespace kepler::lab::tool {
namespace {

constexpr size_t kMinRows = 10;
/// Of a search that its budget ends.
constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

Result<judging::Recipe> RecipeOf(const Training& config) {
  judging::Recipe recipe{.trainer = training::FindTrainer(config.trainer), .options = {}, .per = config.per};
  KEPLER_TRY(recipe.options, ReadSet(config.set));
  recipe.options.seed = static_cast<uint64_t>(config.seed);
  recipe.search.candidates = static_cast<size_t>(config.search > 0           ? config.search
                                                 : config.budget.count() > 0 ? kEndless
                                                                             : 0);
  recipe.search.good_enough_watts = config.good_enough;
  return recipe;
}

/// Returns the column of machines by which models are judged. Default: the table's, if it has several machines.
std::string GroupOf(const Training& config, const judging::DataFile& data) {
  return config.group.empty() && config.folds.empty() ? ColumnOfMachines(data) : config.group;
}

Result<model::OutputType> OutputOf(const Training& config, std::span<const judging::Target> targets) {
  const auto dynamic =
      std::ranges::find_if(targets, [](const judging::Target& of) { return dataset::IsDynamic(of.column); });
  const auto whole =
      std::ranges::find_if_not(targets, [](const judging::Target& of) { return dataset::IsDynamic(of.column); });
  if (dynamic != targets.end() && config.power == KindOfPower::kAbsPower)
    return Fail(
        ErrorKind::kInvalid,
        fmt::format("column '{}' is without idle power, so it cannot train an AbsPower model; use the table before "
                    "isolate, or omit --power",
                    dynamic->column));
  if (dynamic != targets.end() && whole != targets.end())
    return Fail(ErrorKind::kInvalid, fmt::format("column '{}' is without idle power, but '{}' is not; train two models",
                                                 dynamic->column, whole->column));
  return dynamic != targets.end() || config.power == KindOfPower::kDynPower ? model::OutputType::kDynPower
                                                                            : model::OutputType::kAbsPower;
}

Result<judging::Measurements> ReadMeasurements(const Training& config, const judging::DataFile& data,
                                               const std::string& group, const judging::Machines& machines) {
  judging::Measurements all;
  std::vector<std::string> columns = judging::SplitItems(config.target);
  for (std::string& column : columns) column = judging::FindTarget(data, column);
  KEPLER_TRY(all.targets, judging::ResolveTargets(columns, judging::SplitItems(config.component)));
  KEPLER_TRY(all.features, judging::ResolveFeaturesOf(data, judging::SplitItems(config.features)));
  KEPLER_CHECK_OK(CheckFeatures(config, group, all));
  KEPLER_TRY(judging::Inputs inputs, judging::ReadInputs(data, all.features, config.per, machines));
  all.rows = std::move(inputs.features);
  all.cores = std::move(inputs.cores);
  for (const judging::Target& target : all.targets) {
    KEPLER_TRY(std::vector<double> labels, judging::ReadWatts(data, target.column));
    all.labels.push_back(std::move(labels));
  }
  if (!group.empty()) {
    KEPLER_TRY(all.groups, judging::ReadGroups(data, group));
  }
  return all;
}

Result<std::vector<size_t>> RowsToTrain(const judging::DataFile& data, const judging::Measurements& all) {
  KEPLER_TRY(std::vector<size_t> rows, UsableRows(data, all.targets, all.labels));
  if (rows.size() < kMinRows)
    return Fail(ErrorKind::kMalformed,
                fmt::format("{}: {} rows; training needs at least {}", data.path, rows.size(), kMinRows));
  KEPLER_CHECK_OK(CheckLabels(data, all, rows));
  NoteNegativeFeatures(data, all, rows);
  NoteConstantFeatures(data, all);
  return rows;
}

/// Returns `of` to the milliwatt, as plots need it.
double Rounded(double watts) { return std::round(std::clamp(watts, 0.0, model::kMaxWatts) * 1000) / 1000; }

/// A sample of the tested rows, at equal distances.
model::TestedRows SampleOf(const judging::OutOfFold& judged, size_t target, const std::vector<double>& labels) {
  model::TestedRows sample;
  const size_t count = std::min(judged.rows.size(), model::kMaxTested);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * judged.rows.size() / count;
    sample.actual.push_back(Rounded(labels[judged.rows[at]]));
    sample.predicted.push_back(Rounded(judged.predictions[target][at]));
  }
  return sample;
}

/// Adds the errors on unseen rows, and a sample of these rows, to the model and to its figures.
void AddErrors(const judging::Measurements& all, const judging::OutOfFold& judged, judging::Fit& fit) {
  for (size_t i = 0; i < all.targets.size(); ++i) {
    fit.figures[i].errors = judged.errors[i];
    fit.figures[i].of_mean = judged.of_mean[i];
    fit.model.components[i].accuracy = judged.errors[i];
    fit.model.components[i].tested = SampleOf(judged, i, all.labels[i]);
    if (!all.groups.empty()) fit.model.components[i].unseen = judged.errors[i];
  }
}

judging::Choices ChoicesOf(const Training& config) {
  return {.seed = static_cast<uint64_t>(config.seed),
          .search = config.search,
          .budget = config.budget,
          .good_enough_watts = config.good_enough};
}

std::string NameOf(const Training& config) {
  if (!config.name.empty()) return config.name;
  const std::filesystem::path directory = std::filesystem::path(config.output + "/").parent_path().filename();
  if (directory.empty() || directory == "." || directory == "..") return "model";
  return SanitizeUtf8(directory.string(), kMaxLabelBytes);
}

std::string Report(const Training& config, const judging::DataFile& data, const Trained& trained) {
  const std::vector<judging::Figures>& figures = trained.fit.figures;
  if (!config.json)
    return fmt::format("{}{}judged {}\n", judging::FiguresTable(figures),
                       judging::MachinesLine(trained.group, trained.machines), trained.judged_by);
  const std::string head = fmt::format(R"("model":{},"data":{},"sha256":{},"rows":{},"judged":{},)",
                                       json::Quote(config.output), json::Quote(data.path), json::Quote(data.sha256),
                                       trained.rows.size(), json::Quote(trained.judged_by));
  return judging::FiguresJson(head + judging::ChoicesJson(ChoicesOf(config)) + judging::MachinesJson(trained.machines),
                              figures);
}

void HintAtMachine(const Training& config, const Trained& trained) {
  if (trained.fit.model.machine) return;
  Note(fmt::format("hint: the model names no machine, so an agent uses it only if model.sources names the file {}{}{}",
                   config.output, files::kModelFile,
                   config.machine.empty()
                       ? "; train with --machine=FILE (see kepler-model machine) to let agents take it from a directory"
                       : "; its machines have different processors"));
}

/// Before the work, which takes long.
Status CheckOutputs(const Training& config) {
  std::vector<std::string> paths = {config.output + files::kModelFile, config.output + files::kCardFile};
  for (const std::string& path : paths) KEPLER_CHECK_OK(files::CheckFile(path));
  if (!config.predictions.empty()) {
    KEPLER_CHECK_OK(files::CheckOutput(config.predictions, {config.data, config.machine}));
    paths.push_back(config.predictions);
  }
  return files::CheckDistinct(paths);
}

Status Train(const Training& config) {
  KEPLER_CHECK_OK(CheckOutputs(config));
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, config.group));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.data));
  NoteMixedMachines(config, data);
  KEPLER_TRY(Trained trained, TrainOn(config, data, machines, {}));
  KEPLER_TRY(std::vector<files::OutputFile> files, ModelFiles(config, data, trained));
  if (!config.predictions.empty())
    files.push_back({config.predictions, judging::PredictionsCsv(judging::RowNames(data), trained.judged.rows,
                                                                 trained.all.targets, trained.judged.predictions)});
  files.push_back({"-", Report(config, data, trained)});
  KEPLER_CHECK_OK(files::WriteFiles(files));
  KEPLER_CHECK_OK(RemoveSignature(config.output));
  HintAtMachine(config, trained);
  return {};
}

}  // namespace

Result<Trained> TrainOn(const Training& config, const judging::DataFile& data, const judging::Machines& machines,
                        std::string_view name) {
  training::KeepMemoryForFits();
  KEPLER_TRY(judging::Recipe recipe, RecipeOf(config));
  Trained trained;
  trained.group = GroupOf(config, data);
  KEPLER_TRY(trained.all, ReadMeasurements(config, data, trained.group, machines));
  KEPLER_TRY(recipe.output, files::InFile(data.path, OutputOf(config, trained.all.targets)));
  const judging::Measurements& all = trained.all;
  KEPLER_TRY(trained.rows, RowsToTrain(data, all));
  if (config.folds.empty() && all.groups.empty()) NoteRowOrder(data, all, trained.rows);
  KEPLER_TRY(const judging::FoldPlan plan,
             judging::PlanFolds(data, {.folds = config.folds, .group = trained.group}, all.groups, trained.rows));
  trained.judged_by = plan.description;

  // Each fold is searched anew, so that no test row has a say in what is chosen for it; and so is the last model.
  // A share that would be none would be no end.
  const auto searches = static_cast<int64_t>((plan.folds.size() + 1) * all.targets.size());
  if (config.budget.count() > 0) recipe.search.budget = std::max(config.budget / searches, Duration(1));
  auto judged = Result<judging::OutOfFold>();
  auto fit = Result<judging::Fit>();
  {
    const Progress progress;
    judged = judging::PredictOutOfFold(all, recipe, plan.folds, [&](size_t fold) {
      progress.Show(fmt::format("{}fold {} of {}", name, fold + 1, plan.folds.size()));
    });
    progress.Show(fmt::format("{}the model of all rows", name));
    if (judged) fit = judging::FitModel(all, recipe, trained.rows);
  }
  if (!judged) return files::InFile(data.path, judged.error());
  if (!fit) return files::InFile(data.path, fit.error());
  trained.judged = *std::move(judged);
  trained.fit = *std::move(fit);
  trained.fit.model.name = NameOf(config);
  trained.fit.model.version = static_cast<uint32_t>(config.model_version);
  KEPLER_TRY(trained.fit.model.machine, judging::CommonMachine(data, machines));
  AddErrors(all, trained.judged, trained.fit);
  if (!trained.group.empty()) {
    KEPLER_TRY(trained.machines, judging::ErrorsByMachine(data, trained.group, all, trained.judged));
  }
  return trained;
}

Result<std::vector<files::OutputFile>> ModelFiles(const Training& config, const judging::DataFile& data,
                                                  const Trained& trained) {
  KEPLER_TRY(std::string text, files::ModelText(trained.fit.model));
  const std::vector<std::string> settings = judging::SplitItems(config.set);
  return std::vector<files::OutputFile>{
      {config.output + files::kModelFile, std::move(text)},
      {config.output + files::kCardFile, judging::ModelCard({.version = daemon::ThisBuild().version,
                                                             .data = data.path,
                                                             .sha256 = data.sha256,
                                                             .rows = trained.rows.size(),
                                                             .group = trained.group,
                                                             .choices = ChoicesOf(config),
                                                             .set = settings,
                                                             .judged = trained.judged_by,
                                                             .machines = trained.machines,
                                                             .model = trained.fit.model,
                                                             .figures = trained.fit.figures})}};
}

int RunTrain(std::span<const char* const> arguments) {
  return RunCommand<Training>("train", AboutTraining(), arguments, kTrainTable, Train, CheckTraining);
}

}  // namespace kepler::lab::tool
