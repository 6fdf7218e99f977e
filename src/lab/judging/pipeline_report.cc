#include "lab/judging/pipeline_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "json/document.h"
#include "lab/judging/report.h"
#include "lab/plot/axis.h"
#include "lab/plot/chart.h"
#include "lab/plot/render.h"

namespace kepler::lab::judging {
namespace {

std::string_view ZoneOf(const PipelineRow& row) { return model::Name(row.figures.target.component); }

/// What became of it.
std::string Outcome(const PipelineRow& row) {
  if (!row.exceeded.empty()) return fmt::format("{}", fmt::join(row.exceeded, ", "));
  return row.is_written ? "written" : "not the best trainer";
}

plot::Sheet Pairs(std::string caption, std::vector<std::string> head,
                  const std::vector<std::pair<std::string, std::string>>& pairs) {
  plot::Sheet sheet{.caption = std::move(caption), .head = std::move(head), .rows = {}};
  for (const auto& [name, text] : pairs) sheet.rows.push_back({name, EscapeControls(text)});
  return sheet;
}

plot::Sheet FiguresSheet(std::span<const PipelineRow> rows) {
  plot::Sheet sheet{
      .caption = "Models: errors on rows that did not train them",
      .head = {"Component", "Features", "Trainer", "Rows", "MAE, W", "MAPE, %", "R²", "MAE of the mean, W", "Result"},
      .rows = {}};
  for (const PipelineRow& row : rows) {
    const training::Errors& errors = row.figures.errors;
    sheet.rows.push_back({std::string(ZoneOf(row)), row.group, EscapeControls(row.figures.trainer),
                          plot::Grouped(static_cast<double>(errors.rows), 0), plot::Grouped(errors.mae_watts, 3),
                          MapeText(errors), plot::Grouped(errors.r2, 4),
                          row.figures.of_mean ? plot::Grouped(row.figures.of_mean->mae_watts, 3) : "-", Outcome(row)});
  }
  return sheet;
}

std::string RowJson(const PipelineRow& row) {
  return fmt::format(R"({{"features":{},"component":{},"target":{},"trainer":{},{},"exceeded":{},"written":{}}})",
                     json::Quote(row.group), json::Quote(ZoneOf(row)), json::Quote(row.figures.target.column),
                     json::Quote(row.figures.trainer), ErrorMembers(row.figures.errors), json::QuoteList(row.exceeded),
                     row.is_written);
}

}  // namespace

void SortRows(std::vector<PipelineRow>& rows) {
  std::ranges::sort(rows, {}, [](const PipelineRow& row) {
    return std::tuple(row.figures.target.component, row.figures.errors.mae_watts, std::string_view(row.group));
  });
}

std::string PipelineTable(std::span<const PipelineRow> rows) {
  std::string out = fmt::format("{:10} {:18} {:17} {:>8} {:>9} {:>8} {:>8}  {}\n", "COMPONENT", "FEATURES", "TRAINER",
                                "ROWS", "MAE ( W )", "MAPE %", "R2", "RESULT");
  for (const PipelineRow& row : rows) {
    const training::Errors& errors = row.figures.errors;
    out += fmt::format("{:10} {:18} {:17} {:8} {:9.3f} {:>8} {:8.4f}  {}\n", ZoneOf(row), row.group, row.trainer,
                       errors.rows, errors.mae_watts, MapeText(errors), errors.r2, Outcome(row));
  }
  return out;
}

std::string PipelineJson(std::string_view head, std::span<const PipelineRow> rows) {
  std::vector<std::string> items;
  for (const PipelineRow& row : rows) items.push_back(RowJson(row));
  return fmt::format("{{{}\"models\":[{}]}}\n", head, fmt::join(items, ","));
}

Result<std::string> PipelineHtml(const PipelineReport& report) {
  std::vector<plot::Section> sections;
  sections.push_back({.svg = {},
                      .sheets = {Pairs(report.title, {"Run", ""}, report.facts), FiguresSheet(report.rows),
                                 Pairs("Feature groups", {"Group", "Features"}, report.groups)}});
  for (const Comparison& zone : report.zones) {
    KEPLER_TRY(std::string svg, plot::RenderSvg(plot::LayOut(PageOf(zone))));
    sections.push_back({.svg = std::move(svg), .sheets = SheetsOf(zone)});
  }
  return plot::HtmlPage(report.title, sections);
}

}  // namespace kepler::lab::judging
