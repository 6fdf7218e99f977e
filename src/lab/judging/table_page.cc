#include "lab/judging/table_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "lab/dataset/isolation.h"
#include "lab/judging/plot_page.h"
#include "lab/plot/axis.h"
#include "model/features.h"

namespace kepler::lab::judging {
namespace {

constexpr plot::Color kColors[] = {plot::kBlue, plot::kOrange, plot::kGreen, plot::kVermilion, plot::kGrey};

struct Summary {
  size_t rows;
  double min;
  double mean;
  double max;
};

Summary SummaryOf(const Column& column) {
  std::vector<double> values = column.values;
  std::erase_if(values, [](double value) { return std::isnan(value); });
  const auto [min, max] = std::ranges::minmax(values);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {.rows = values.size(), .min = min, .mean = sum / static_cast<double>(values.size()), .max = max};
}

std::string Name(const Column& column) { return EscapeControls(SanitizeUtf8(column.name, kMaxLabelBytes)); }

/// The rows that have both.
std::vector<plot::Point> Points(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<plot::Point> points;
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::isnan(x[i]) && !std::isnan(y[i])) points.push_back({.x = x[i], .y = y[i]});
  return points;
}

Result<Column> ReadColumn(const DataFile& data, const std::string& name) {
  KEPLER_TRY(const size_t place, FindColumn(data, name));
  Column column{.name = data.table.names()[place], .values = {}};
  KEPLER_TRY(column.values, ReadGappy(data, place));
  if (std::ranges::all_of(column.values, [](double value) { return std::isnan(value); }))
    return Fail(ErrorKind::kInvalid, fmt::format("{}: column '{}' has no number", data.path, name));
  return column;
}

bool IsFeature(std::string_view name) {
  return std::ranges::any_of(model::FeatureGroups(), [&](const model::FeatureGroup& group) {
    return std::ranges::find(group.features, model::CanonicalFeature(name)) != group.features.end();
  });
}

}  // namespace

std::vector<std::string> ColumnsOfWatts(const DataFile& data) {
  std::vector<std::string> columns;
  for (const std::string& name : data.table.names()) {
    std::vector<std::string> with = columns;
    with.push_back(name);
    if (!dataset::WattsOf(name).empty() && ResolveTargets(with, {})) columns = std::move(with);
  }
  return columns;
}

Result<TablePage> ReadTablePage(const DataFile& data, const std::string& target, const std::string& feature) {
  TablePage page{.title = {}, .data = data.path, .when = {}, .watts = {}, .features = {}};
  page.when = TimesOf(data, page.is_time);
  std::vector<std::string> watts = ColumnsOfWatts(data);
  std::erase(watts, target);
  watts.insert(watts.begin(), target);
  for (const std::string& name : watts) {
    KEPLER_TRY(Column column, ReadColumn(data, name));
    page.watts.push_back(std::move(column));
  }
  std::vector<std::string> features = {feature};
  if (feature.empty()) {
    features.clear();
    std::ranges::copy_if(data.table.names(), std::back_inserter(features), IsFeature);
  }
  for (const std::string& name : features) {
    KEPLER_TRY(Column column, ReadColumn(data, name));
    page.features.push_back(std::move(column));
  }
  return page;
}

plot::Page PageOf(const TablePage& table) {
  const Summary power = SummaryOf(table.watts.front());
  const auto watts = [](double value) { return plot::Short(value) + " W"; };
  const std::string time = table.is_time ? "time, min" : "row";
  const std::string of = Name(table.watts.front());
  plot::Page page{
      .title = EscapeControls(SanitizeUtf8(table.title, kMaxLabelBytes)),
      .subtitle = EscapeControls(SanitizeUtf8(table.data, kMaxLabelBytes)),
      .facts = {{.value = plot::Grouped(static_cast<double>(table.when.size()), 0), .meaning = "rows"},
                {.value = watts(power.mean), .meaning = "mean of " + of},
                {.value = watts(power.min), .meaning = "minimum"},
                {.value = watts(power.max), .meaning = "maximum"}},
      .panels = {{.title = "Power", .x_label = time, .y_label = "power, W", .wide = true, .chart = plot::Marks{}}}};
  auto& marks = std::get<plot::Marks>(page.panels.front().chart);
  marks.lines = true;
  for (size_t i = 0; i < table.watts.size(); ++i)
    marks.series.push_back({.name = Name(table.watts[i]),
                            .color = kColors[i % std::size(kColors)],
                            .points = Points(table.when, table.watts[i].values)});
  const auto panel = [](std::string title, std::string x, std::string y, plot::Color color,
                        std::vector<plot::Point> points, bool lines) {
    return plot::Panel{
        .title = std::move(title),
        .x_label = std::move(x),
        .y_label = std::move(y),
        .chart = plot::Marks{.series = {{.name = "", .color = color, .points = std::move(points)}}, .lines = lines}};
  };
  for (const Column& feature : table.features) {
    const std::string name = Name(feature);
    page.panels.push_back(panel(name, time, name, plot::kGreen, Points(table.when, feature.values), true));
    page.panels.push_back(panel("Power by " + name, name, of + ", W", plot::kBlue,
                                Points(feature.values, table.watts.front().values), false));
  }
  return page;
}

std::vector<plot::Sheet> SheetsOf(const TablePage& table) {
  plot::Sheet sheet{.caption = "Columns", .head = {"Column", "Rows", "Minimum", "Mean", "Maximum"}, .rows = {}};
  for (const std::vector<Column>* const columns : {&table.watts, &table.features})
    for (const Column& column : *columns) {
      const Summary of = SummaryOf(column);
      sheet.rows.push_back({Name(column), plot::Grouped(static_cast<double>(of.rows), 0), plot::Grouped(of.min, 3),
                            plot::Grouped(of.mean, 3), plot::Grouped(of.max, 3)});
    }
  return {std::move(sheet)};
}

std::string PlotJson(const TablePage& table, std::string_view output) {
  std::vector<std::string> items;
  for (const std::vector<Column>* const columns : {&table.watts, &table.features})
    for (const Column& column : *columns) {
      const Summary of = SummaryOf(column);
      items.push_back(fmt::format(R"({{"name":{},"n":{},"min":{},"mean":{},"max":{}}})", json::Quote(column.name),
                                  of.rows, of.min, of.mean, of.max));
    }
  return fmt::format("{{\"output\":{},\"rows\":{},\"columns\":[{}]}}\n", json::Quote(output), table.when.size(),
                     fmt::join(items, ","));
}

}  // namespace kepler::lab::judging
