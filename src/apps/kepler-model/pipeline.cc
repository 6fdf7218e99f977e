// kepler-model pipeline.
#include "apps/kepler-model/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ranges>
#include <utility>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/train_checks.h"
#include "json/document.h"
#include "lab/files/files.h"
#include "lab/files/model_file.h"
#include "lab/judging/importance.h"
#include "lab/judging/pipeline_report.h"
#include "lab/judging/table_page.h"
#include "model/features.h"

namespace kepler::lab::tool {
namespace {

/// A group by the best of its trainers.
struct GroupModel {
  std::string group;
  Trained trained;
  std::vector<bool> is_kept;  // of each target
};

/// The sum over the targets of MAE / MAE of the mean: small is good. Of trainers of the same targets.
double ScoreOf(const Trained& trained) {
  double sum = 0;
  for (const judging::Figures& of : trained.fit.figures)
    if (of.of_mean && of.of_mean->mae_watts > 0) sum += of.errors.mae_watts / of.of_mean->mae_watts;
  return sum;
}

/// The names of groups and their features in this table; of groups with the same features the first.
Result<std::vector<std::pair<std::string, std::vector<std::string>>>> GroupsOf(const Pipeline& config,
                                                                               const judging::DataFile& data) {
  std::vector<std::string> names = judging::SplitItems(config.groups);
  const bool is_asked_for = !names.empty();
  if (!is_asked_for)
    for (const model::FeatureGroup& group : model::FeatureGroups()) names.emplace_back(group.name);
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const std::string& name : names) {
    auto features = judging::ResolveFeaturesOf(data, {{name}});
    if (!features && is_asked_for) return std::unexpected(features.error());
    if (!features || std::ranges::any_of(groups, [&](const auto& group) { return group.second == *features; }))
      continue;
    groups.emplace_back(name, *std::move(features));
  }
  if (groups.empty())
    return Fail(ErrorKind::kInvalid, fmt::format("{}: no feature group has all its columns; train --help lists the "
                                                 "groups, and train accepts any --features",
                                                 data.path));
  return groups;
}

/// One with other files could hold models of an earlier run, and an agent would use them.
Status CheckEmpty(const std::string& directory) {
  std::error_code failed;
  if (std::filesystem::is_empty(directory, failed) || failed) return {};
  return Fail(ErrorKind::kInvalid, fmt::format("{}: not empty; remove it, or set another --output", directory));
}

/// More components within the limits, then smaller errors.
bool IsBetter(const Trained& trained, const std::vector<bool>& is_kept, const GroupModel& best) {
  const auto kept = std::ranges::count(is_kept, true);
  const auto kept_by_best = std::ranges::count(best.is_kept, true);
  return kept != kept_by_best ? kept > kept_by_best : ScoreOf(trained) < ScoreOf(best.trained);
}

/// Trains the group with each trainer, adds all figures to `rows`, and keeps the best.
Result<GroupModel> TrainGroup(const Pipeline& config, const judging::DataFile& data, const judging::Machines& machines,
                              const std::string& name, std::vector<judging::PipelineRow>& rows) {
  GroupModel best{.group = name, .trained = {}, .is_kept = {}};
  size_t place = 0;  // of its rows
  for (const std::string& trainer : judging::SplitItems(config.trainers)) {
    Training of = config.of;
    of.features = {name};
    of.trainer = trainer;
    of.output = config.of.output + "/" + name;
    KEPLER_TRY(Trained trained, TrainOn(of, data, machines, fmt::format("{}, {}: ", name, trainer)));
    const size_t first = rows.size();
    std::vector<bool> is_kept;
    for (const judging::Figures& figures : trained.fit.figures) {
      rows.push_back({.group = name,
                      .trainer = trainer,
                      .figures = figures,
                      .exceeded = judging::Exceeded(config.limits, figures.errors)});
      is_kept.push_back(rows.back().exceeded.empty());
    }
    if (!best.is_kept.empty() && !IsBetter(trained, is_kept, best)) continue;
    place = first;
    std::tie(best.trained, best.is_kept) = std::pair(std::move(trained), std::move(is_kept));
  }
  for (size_t i = 0; i < best.is_kept.size(); ++i) rows[place + i].is_written = best.is_kept[i];
  return best;
}

/// Without the components that are not kept; nothing if none is.
Status AddFiles(const Pipeline& config, const judging::DataFile& data, const GroupModel& group,
                std::vector<files::OutputFile>& files) {
  Training of = config.of;
  of.output = config.of.output + "/" + group.group;
  Trained trained = group.trained;
  files.push_back(
      {of.output + "/predictions.csv", judging::PredictionsCsv(judging::RowNames(data), trained.judged.rows,
                                                               trained.all.targets, trained.judged.predictions)});
  for (size_t i = group.is_kept.size(); i-- > 0;) {
    if (group.is_kept[i]) continue;
    trained.fit.model.components.erase(trained.fit.model.components.begin() + static_cast<std::ptrdiff_t>(i));
    trained.fit.figures.erase(trained.fit.figures.begin() + static_cast<std::ptrdiff_t>(i));
    for (judging::MachineErrors& machine : trained.machines)
      machine.errors.erase(machine.errors.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (trained.fit.figures.empty()) return {};
  KEPLER_TRY(const auto model, ModelFiles(of, data, trained));
  files.insert(files.end(), model.begin(), model.end());
  return {};
}

/// Of the groups in the order of their error.
judging::Comparison CompareGroups(const judging::DataFile& data, std::vector<const GroupModel*> groups, size_t target) {
  std::ranges::sort(groups, {}, [target](const GroupModel* group) {
    return std::pair(group->trained.judged.errors[target].mae_watts, std::string_view(group->group));
  });
  const Trained& best = groups.front()->trained;
  const judging::Target& of = best.all.targets[target];
  judging::Comparison zone;
  zone.title = fmt::format("{}: {}", model::Name(of.component), groups.front()->group);
  zone.data = data.path;
  zone.target = of.column;
  zone.rows_of_data = data.table.rows();
  zone.when = judging::Pick(judging::TimesOf(data, zone.is_time), best.judged.rows);
  zone.measured = judging::Pick(best.all.labels[target], best.judged.rows);
  for (const GroupModel* const group : groups) {
    zone.names.push_back(group->group);
    zone.predicted.push_back(group->trained.judged.predictions[target]);
  }
  zone.importance =
      judging::ImportanceOf(best.fit.model, best.all.rows, of, best.all.labels[target], best.rows, best.all.cores);
  return zone;
}

judging::PipelineReport ReportOf(const Pipeline& config, const judging::DataFile& data,
                                 const std::vector<GroupModel>& models, std::vector<judging::PipelineRow> rows) {
  judging::SortRows(rows);
  const Trained& any = models.front().trained;
  const auto limit = [](double value, std::string_view unit) {
    return value > 0 ? fmt::format("{:g} {}", value, unit) : std::string("no limit");
  };
  judging::PipelineReport report{
      .title = "Power models of " + data.path,
      .facts = {{"Data", fmt::format("{}, {} rows", data.path, any.rows.size())},
                {"SHA-256", data.sha256},
                {"Power", std::string(model::Name(any.fit.model.output))},
                {"Judged", any.judged_by},
                {"Trainers",
                 fmt::format("{}; seed {}", fmt::join(judging::SplitItems(config.trainers), ", "), config.of.seed)},
                {"Limits", fmt::format("MAE: {}, MAPE: {}", limit(config.limits.mae_watts, "W"),
                                       limit(config.limits.mape, "%"))}},
      .groups = {},
      .rows = std::move(rows),
      .zones = {}};
  std::vector<const GroupModel*> all;
  for (const GroupModel& model : models) {
    all.push_back(&model);
    report.groups.emplace_back(model.group, fmt::format("{}", fmt::join(model.trained.all.features, ", ")));
  }
  for (size_t i = 0; i < any.all.targets.size(); ++i) report.zones.push_back(CompareGroups(data, all, i));
  return report;
}

/// The components that no group's best trainer predicts within the limits.
std::vector<std::string_view> Lost(const std::vector<GroupModel>& models) {
  std::vector<std::string_view> lost;
  const std::vector<judging::Target>& targets = models.front().trained.all.targets;
  for (size_t i = 0; i < targets.size(); ++i)
    if (std::ranges::none_of(models, [i](const GroupModel& model) { return model.is_kept[i]; }))
      lost.push_back(model::Name(targets[i].component));
  return lost;
}

Status RunAll(const Pipeline& given) {
  Pipeline config = given;
  while (config.of.output.size() > 1 && config.of.output.ends_with('/')) config.of.output.pop_back();
  KEPLER_CHECK_OK(CheckEmpty(config.of.output));
  KEPLER_CHECK_OK(files::CheckFile(config.of.output + "/report.html"));
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.of.machine, config.of.group));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.of.data));
  config.of.target = config.target.empty() ? judging::ColumnsOfWatts(data) : config.target;
  if (config.of.target.empty())
    return Fail(ErrorKind::kInvalid, fmt::format("{}: no column of watts (package_power, dram_power)", data.path));
  NoteMixedMachines(config.of, data);
  KEPLER_TRY(const auto groups, GroupsOf(config, data));
  std::vector<GroupModel> models;
  std::vector<judging::PipelineRow> rows;
  for (const auto& [name, features] : groups) {
    KEPLER_TRY(GroupModel model, TrainGroup(config, data, machines, name, rows));
    models.push_back(std::move(model));
  }
  const judging::PipelineReport report = ReportOf(config, data, models, std::move(rows));
  KEPLER_TRY(std::string page, judging::PipelineHtml(report));
  std::vector<files::OutputFile> files = {{config.of.output + "/report.html", std::move(page)}};
  for (const GroupModel& model : models) KEPLER_CHECK_OK(AddFiles(config, data, model, files));
  const std::string head =
      fmt::format(R"("data":{},"sha256":{},"rows":{},"judged":{},)", json::Quote(data.path), json::Quote(data.sha256),
                  models.front().trained.rows.size(), json::Quote(models.front().trained.judged_by));
  files.push_back({"-", config.json ? judging::PipelineJson(head, report.rows) : judging::PipelineTable(report.rows)});
  KEPLER_CHECK_OK(files::WriteFiles(files));
  for (const GroupModel& model : models) KEPLER_CHECK_OK(RemoveSignature(config.of.output + "/" + model.group));
  const auto lost = Lost(models);
  if (lost.empty()) return {};
  return Fail(ErrorKind::kInvalid,
              fmt::format("{}: the models of {} by the best trainers are above the limits; see {}/report.html",
                          data.path, fmt::join(lost, ", "), config.of.output));
}

}  // namespace

int RunPipeline(std::span<const char* const> arguments) {
  return RunCommand<Pipeline>("pipeline", kAboutPipeline, arguments, kPipelineTable, RunAll, CheckPipeline);
}

}  // namespace kepler::lab::tool
