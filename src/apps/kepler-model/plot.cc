// kepler-model plot.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "lab/files/files.h"
#include "lab/judging/data.h"
#include "lab/judging/inputs.h"
#include "lab/judging/plot_page.h"
#include "lab/judging/report.h"
#include "lab/judging/table_page.h"
#include "lab/plot/chart.h"
#include "lab/plot/render.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;

struct Plot {
  std::string predictions;
  std::string model;
  std::string data;
  std::string target = "package_power";
  std::string component;
  std::string feature;
  std::vector<std::string> compare;
  std::string machine;
  std::string title = "Power model";
  std::string output;
  bool json = false;
};

constexpr Key kPlotKeys[] = {
    Key("predictions", "predictions", "CSV file of predictions (row,prediction), as written by train and predict",
        kAt<&Plot::predictions>, {.is_path = true}),
    Key("model", "model",
        "Model directory or file, to predict instead of --predictions; default: the model in the agent",
        kAt<&Plot::model>, {.is_path = true}),
    Key("data", "data", "CSV file with measured watts and, for models, features", kAt<&Plot::data>,
        {.is_path = true, .required = true, .argument = true}),
    Key("target", "target", "Column of measured watts", kAt<&Plot::target>),
    Key("component", "component", "Component of the target, if its name does not contain it", kAt<&Plot::component>),
    Key("feature", "feature",
        "Column for a chart of power over this feature; without predictions: the only one, instead of all",
        kAt<&Plot::feature>),
    Key("compare", "compare",
        "Comma-separated list of NAME=PATH of other predictions (.csv) or models to compare on "
        "the same rows",
        kAt<&Plot::compare>),
    Key("machine", "machine",
        "Machine, for attributes that models need and the table lacks: JSON file of one machine or of several by "
        "name, or "
        "KEY=VALUE,...",
        kAt<&Plot::machine>, {.is_path = true}),
    Key("title", "title", "Title of the page", kAt<&Plot::title>),
    Key("output", "output", "File for the page; the suffix selects the format: .svg, .png or .html", kAt<&Plot::output>,
        {.is_path = true, .required = true}),
    Key("json", "json", "Print the figures as JSON", kAt<&Plot::json>),
};
constexpr settings::TableOf<Plot> kPlotTable(kPlotKeys);

constexpr std::string_view kAboutPlot =
    R"(Plots a table of measurements, or the errors of predictions for it, on one page.

Without --predictions and --model: power and features over time, and power by each feature.

Charts of predictions: predicted against measured watts, error over time, both over time, error by load and, if selected, power over a feature
and a comparison with other models. Use predictions of unseen rows (train --predictions): errors on training rows are too small.

Examples:
  kepler-model plot node.csv --output=node.html
  kepler-model plot --predictions=out.csv --data=node.csv --output=model.png
  kepler-model plot --model=model --data=another-day.csv --feature=cpu_cycles --output=model.html
  kepler-model plot --predictions=a.csv --compare=trees=b.csv,curve=c.csv --data=node.csv --output=models.svg)";

constexpr size_t kMaxCompared = 10;

std::string EndingOf(const std::string& path) { return std::filesystem::path(path).extension().string(); }

Result<std::vector<judging::Source>> ReadSources(const Plot& config, const judging::DataFile& data,
                                                 const judging::Target& target) {
  KEPLER_TRY(const judging::Machines machines, judging::ReadMachines(config.machine, {}));
  std::vector<judging::Source> sources;
  if (config.model.empty()) {
    sources.push_back({.name = config.predictions, .path = config.predictions, .watts = {}});
    if (!sources[0].path.ends_with(".csv"))
      return Fail(
          ErrorKind::kInvalid,
          fmt::format("{}: the name of predictions must end in .csv; for a model use --model", config.predictions));
    KEPLER_CHECK_OK(judging::ReadSource(data, target, machines, sources[0]));
  } else {
    sources.push_back({.name = config.model, .path = config.model, .watts = {}});
    KEPLER_CHECK_OK(judging::PredictSource(data, target, machines, sources[0]));
  }
  for (const std::string& text : judging::SplitItems(config.compare)) {
    judging::Source& source = sources.emplace_back(judging::SourceOf(text));
    KEPLER_CHECK_OK(judging::ReadSource(data, target, machines, source));
  }
  return sources;
}

/// Of the rows that all have.
Result<judging::Comparison> JudgeRows(const Plot& config, const judging::DataFile& data, const judging::Target& target,
                                      std::vector<judging::Source> sources) {
  KEPLER_TRY(const std::vector<double> measured, judging::ReadWatts(data, target.column));
  KEPLER_TRY(const std::vector<size_t> rows, UsableRows(data, {&target, 1}, {&measured, 1}));
  std::vector<double> feature;
  if (!config.feature.empty()) {
    KEPLER_TRY(feature, judging::ReadNumbers(data, config.feature));
  }
  judging::Comparison compared;
  compared.title = config.title;
  compared.data = data.path;
  compared.target = target.column;
  compared.rows_of_data = measured.size();
  compared.feature = config.feature;
  const std::vector<double> when = judging::TimesOf(data, compared.is_time);
  compared.predicted.resize(sources.size());
  for (const judging::Source& source : sources) compared.names.push_back(source.name);
  for (const size_t row : rows) {
    if (!std::ranges::all_of(sources,
                             [row](const judging::Source& source) { return std::isfinite(source.watts[row]); }))
      continue;
    compared.when.push_back(when[row]);
    compared.measured.push_back(measured[row]);
    if (!feature.empty()) compared.feature_values.push_back(feature[row]);
    for (size_t i = 0; i < sources.size(); ++i) compared.predicted[i].push_back(sources[i].watts[row]);
  }
  if (compared.measured.empty())
    return Fail(ErrorKind::kInvalid, fmt::format("{}: no row has a prediction of every input", data.path));
  return compared;
}

/// `source` has a page and sheets: a comparison or a table.
Result<std::string> Render(const auto& source, const std::string& ending) {
  const plot::Page page = judging::PageOf(source);
  const plot::Drawing drawing = plot::LayOut(page);
  if (ending == ".png") return plot::RenderPng(drawing);
  KEPLER_TRY(std::string svg, plot::RenderSvg(drawing));
  if (ending == ".svg") return svg;
  return plot::HtmlPage(page.title, {{.svg = std::move(svg), .sheets = judging::SheetsOf(source)}});
}

Status DrawTable(const Plot& config, const judging::DataFile& data) {
  KEPLER_TRY(judging::TablePage table, judging::ReadTablePage(data, config.target, config.feature));
  table.title = config.title == Plot().title ? "Measurements" : config.title;
  KEPLER_TRY(std::string page, Render(table, EndingOf(config.output)));
  const std::string report = config.json ? judging::PlotJson(table, config.output)
                                         : fmt::format("{}: {} rows, {} columns of watts, {} features\n", config.output,
                                                       table.when.size(), table.watts.size(), table.features.size());
  const std::vector<files::OutputFile> files = {{config.output, std::move(page)}, {"-", report}};
  return files::WriteFiles(files);
}

Status DrawPlot(const Plot& config) {
  KEPLER_CHECK_OK(files::CheckOutput(config.output, {config.data, config.predictions, config.model, config.machine}));
  for (const std::string& text : judging::SplitItems(config.compare))
    KEPLER_CHECK_OK(files::CheckOutput(config.output, {judging::SourceOf(text).path}));
  KEPLER_TRY(const judging::DataFile data, judging::ReadData(config.data));
  if (config.predictions.empty() && config.model.empty()) return DrawTable(config, data);
  KEPLER_TRY(const judging::Target target,
             judging::ResolveTarget(judging::FindTarget(data, config.target), config.component));
  KEPLER_TRY(std::vector<judging::Source> sources, ReadSources(config, data, target));
  KEPLER_TRY(const judging::Comparison compared, JudgeRows(config, data, target, std::move(sources)));
  KEPLER_TRY(std::string page, Render(compared, EndingOf(config.output)));
  const training::Errors errors = judging::ErrorsOfAll(compared).front();
  const std::string report =
      config.json ? judging::PlotJson(compared, config.output)
                  : fmt::format("{}: {} of {} rows, MAE {:.3f} W, MAPE {} %, R2 {:.4f}\n", config.output, errors.rows,
                                compared.rows_of_data, errors.mae_watts, judging::MapeText(errors), errors.r2);
  const std::vector<files::OutputFile> files = {{config.output, std::move(page)}, {"-", report}};
  return files::WriteFiles(files);
}

void CheckPlot(settings::Draft& draft, const Plot& config) {
  if (!config.predictions.empty() && !config.model.empty())
    draft.Reject("predictions", "set either --predictions or --model");
  if (!config.machine.empty() && config.model.empty() && config.compare.empty())
    draft.Reject("machine", "is for models; set --model or --compare");
  if (config.predictions.empty() && config.model.empty() && !config.compare.empty())
    draft.Reject("compare", "needs --predictions or --model to compare with");
  if (const std::string ending = EndingOf(config.output); ending != ".svg" && ending != ".png" && ending != ".html")
    draft.Reject("output", "its suffix must be .svg, .png or .html");
  if (const auto target = judging::ResolveTarget(config.target, config.component); !target)
    draft.Reject("target", target.error().message);
  if (judging::SplitItems(config.compare).size() > kMaxCompared)
    draft.Reject("compare", fmt::format("a page has room for at most {}", kMaxCompared));
}

}  // namespace

int RunPlot(std::span<const char* const> arguments) {
  return RunCommand<Plot>("plot", kAboutPlot, arguments, kPlotTable, DrawPlot, CheckPlot);
}

}  // namespace kepler::lab::tool
