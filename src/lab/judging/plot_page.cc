#include "lab/judging/plot_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "json/document.h"
#include "lab/judging/report.h"
#include "lab/plot/axis.h"

namespace kepler::lab::judging {
namespace {

constexpr size_t kBands = 10;

std::string Words(std::string_view text) { return EscapeControls(SanitizeUtf8(text, kMaxLabelBytes)); }

std::vector<plot::Point> Points(std::span<const double> x, std::span<const double> y) {
  std::vector<plot::Point> points;
  points.reserve(x.size());
  for (size_t i = 0; i < x.size(); ++i) points.push_back({.x = x[i], .y = y[i]});
  return points;
}

std::string Percent(const training::Errors& errors) {
  return errors.mape_rows > 0 ? plot::Short(errors.mape) + " %" : "-";
}

/// "6.54 W", "512 GW".
std::string Watts(double watts) {
  std::string text = plot::Short(watts);
  const bool has_unit = text.back() >= 'A';
  return text += has_unit ? "W" : " W";
}

plot::Panel AgainstMeasured(const Comparison& compared) {
  return {
      .title = "Predicted against measured",
      .x_label = "measured, W; dashed: prediction equals measurement",
      .y_label = "predicted, W",
      .chart = plot::Marks{
          .series = {{.name = "", .color = plot::kBlue, .points = Points(compared.measured, compared.predicted[0])}},
          .guide = plot::Marks::Guide::kDiagonal}};
}

std::string TimeLabel(const Comparison& compared) { return compared.is_time ? "time, min" : "row"; }

plot::Panel Residuals(const Comparison& compared) {
  std::vector<double> off(compared.measured.size());
  std::ranges::transform(compared.predicted[0], compared.measured, off.begin(), std::minus());
  return {
      .title = compared.is_time ? "Error over time" : "Error by row",
      .x_label = TimeLabel(compared),
      .y_label = "predicted \u2212 measured, W",
      .chart = plot::Marks{.series = {{.name = "", .color = plot::kVermilion, .points = Points(compared.when, off)}},
                           .guide = plot::Marks::Guide::kZero}};
}

plot::Panel Both(const Comparison& compared) {
  return {.title = compared.is_time ? "Power over time" : "Power by row",
          .x_label = TimeLabel(compared),
          .y_label = "power, W",
          .wide = true,
          .chart = plot::Marks{
              .series =
                  {{.name = "measured", .color = plot::kOrange, .points = Points(compared.when, compared.measured)},
                   {.name = "predicted", .color = plot::kBlue, .points = Points(compared.when, compared.predicted[0])}},
              .lines = true}};
}

plot::Panel ByLoad(const std::vector<LoadBand>& bands, bool percent) {
  plot::Columns columns{.edges = {bands.front().from}, .heights = {}, .color = percent ? plot::kGreen : plot::kBlue};
  for (const LoadBand& band : bands) {
    columns.edges.push_back(band.to);
    const double mape = band.errors.mape_rows > 0 ? band.errors.mape : std::numeric_limits<double>::quiet_NaN();
    columns.heights.push_back(percent ? mape : band.errors.mae_watts);
  }
  return {.title = percent ? "Percent error by load" : "Error by load",
          .x_label = "measured, W; each column has the same number of rows",
          .y_label = percent ? "mean absolute error, % of the measured watts" : "mean absolute error, W",
          .chart = std::move(columns)};
}

plot::Panel ModelsPanel(const Comparison& compared) {
  plot::Bars bars;
  const auto errors = ErrorsOfAll(compared);
  for (size_t i = 0; i < errors.size(); ++i)
    bars.bars.push_back({.name = Words(compared.names[i]),
                         .length = errors[i].mae_watts,
                         .text = fmt::format("{}, {}", Watts(errors[i].mae_watts), Percent(errors[i]))});
  return {.title = "Models compared",
          .x_label = "",
          .y_label = "mean absolute error in W and in %; the same rows for all",
          .chart = std::move(bars)};
}

plot::Panel ByImportance(const Comparison& compared) {
  plot::Bars bars;
  for (const Importance& of : compared.importance)
    bars.bars.push_back({.name = Words(of.feature), .length = std::max(of.watts, 0.0), .text = Watts(of.watts)});
  return {.title = "Feature importance",
          .x_label = "",
          .y_label = "increase of the error if a feature's values are shuffled, W",
          .chart = std::move(bars)};
}

plot::Panel ByFeature(const Comparison& compared) {
  const auto& values = compared.feature_values;
  return {
      .title = "Power by " + Words(compared.feature),
      .x_label = Words(compared.feature),
      .y_label = "power, W",
      .chart = plot::Marks{
          .series = {{.name = "measured", .color = plot::kOrange, .points = Points(values, compared.measured)},
                     {.name = "predicted", .color = plot::kBlue, .points = Points(values, compared.predicted[0])}}}};
}

std::string RowsText(const Comparison& compared) {
  const auto count = [](size_t rows) { return plot::Grouped(static_cast<double>(rows), 0); };
  if (compared.measured.size() == compared.rows_of_data) return count(compared.rows_of_data);
  return fmt::format("{} of {}", count(compared.measured.size()), count(compared.rows_of_data));
}

}  // namespace

std::vector<LoadBand> BandsOf(std::span<const double> measured, std::span<const double> predicted) {
  std::vector<size_t> order(measured.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t row) { return std::pair(measured[row], row); });
  std::vector<LoadBand> bands;
  size_t begin = 0;
  for (size_t i = 1; i <= kBands; ++i) {
    size_t end = std::max(order.size() * i / kBands, begin);
    while (end > begin && end < order.size() && measured[order[end]] == measured[order[end - 1]]) ++end;
    if (end == begin) continue;
    std::vector<double> y;
    std::vector<double> p;
    for (size_t k = begin; k < end; ++k) {
      y.push_back(measured[order[k]]);
      p.push_back(predicted[order[k]]);
    }
    bands.push_back({.from = y.front(), .to = y.back(), .errors = training::Judge(p, y)});
    begin = end;
  }
  return bands;
}

std::vector<training::Errors> ErrorsOfAll(const Comparison& compared) {
  std::vector<training::Errors> all;
  all.reserve(compared.predicted.size());
  for (const auto& watts : compared.predicted) all.push_back(training::Judge(watts, compared.measured));
  return all;
}

plot::Page PageOf(const Comparison& compared) {
  const training::Errors errors = ErrorsOfAll(compared).front();
  plot::Page page{.title = Words(compared.title),
                  .subtitle = Words(fmt::format("{} against column {} of {}", compared.names.front(), compared.target,
                                                compared.data)),
                  .facts = {{.value = RowsText(compared), .meaning = "rows"},
                            {.value = Watts(errors.mae_watts), .meaning = "mean absolute error (MAE)"},
                            {.value = Percent(errors), .meaning = "mean percent error (MAPE)"},
                            {.value = plot::Short(errors.r2), .meaning = "R\u00b2, explained variance"}},
                  .panels = {AgainstMeasured(compared), Residuals(compared), Both(compared)}};
  const auto bands = BandsOf(compared.measured, compared.predicted[0]);
  page.panels.push_back(ByLoad(bands, false));
  page.panels.push_back(ByLoad(bands, true));
  if (!compared.importance.empty()) page.panels.push_back(ByImportance(compared));
  if (!compared.feature.empty()) page.panels.push_back(ByFeature(compared));
  if (compared.names.size() > 1) page.panels.push_back(ModelsPanel(compared));
  return page;
}

std::vector<plot::Sheet> SheetsOf(const Comparison& compared) {
  plot::Sheet models{.caption = "Models", .head = {"Model", "Rows", "MAE, W", "MAPE, %", "R\u00b2"}, .rows = {}};
  const auto errors = ErrorsOfAll(compared);
  for (size_t i = 0; i < errors.size(); ++i)
    models.rows.push_back({Words(compared.names[i]), plot::Grouped(static_cast<double>(errors[i].rows), 0),
                           plot::Grouped(errors[i].mae_watts, 3), MapeText(errors[i]), plot::Grouped(errors[i].r2, 4)});
  plot::Sheet loads{.caption = "Error by load", .head = {"Measured, W", "Rows", "MAE, W", "MAPE, %"}, .rows = {}};
  for (const LoadBand& band : BandsOf(compared.measured, compared.predicted[0]))
    loads.rows.push_back({fmt::format("{} to {}", plot::Grouped(band.from, 2), plot::Grouped(band.to, 2)),
                          plot::Grouped(static_cast<double>(band.errors.rows), 0),
                          plot::Grouped(band.errors.mae_watts, 3), MapeText(band.errors)});
  return {std::move(models), std::move(loads)};
}

std::string PlotJson(const Comparison& compared, std::string_view output) {
  const auto errors = ErrorsOfAll(compared);
  std::string models;
  for (size_t i = 0; i < errors.size(); ++i)
    models += fmt::format(R"({}{{"name":{},{}}})", models.empty() ? "" : ",", json::Quote(compared.names[i]),
                          ErrorMembers(errors[i]));
  std::string loads;
  for (const LoadBand& band : BandsOf(compared.measured, compared.predicted[0]))
    loads += fmt::format(R"({}{{"from":{},"to":{},{}}})", loads.empty() ? "" : ",", band.from, band.to,
                         ErrorMembers(band.errors));
  return fmt::format(R"({{"output":{},"rows":{},{},"models":[{}],"by_load":[{}]}})"
                     "\n",
                     json::Quote(output), compared.rows_of_data, ErrorMembers(errors.front()), models, loads);
}

}  // namespace kepler::lab::judging
