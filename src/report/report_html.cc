#include "report/report_html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/html.h"
#include "base/parse.h"
#include "export/series/figure_text.h"
#include "export/stdout/text_table.h"

namespace kepler::report {
namespace {

using series::TimeText;

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Energy report</title><style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; overflow-wrap: anywhere; }
td:first-child { min-width: 12rem; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.rest td:first-child { font-style: italic; } tr.total { font-weight: 600; }
.bar { background: #8883; height: .6rem; min-width: 6rem; } .bar i { display: block; height: 100%; background: #2a78b5; }
.wide { overflow-x: auto; } svg { width: 100%; height: auto; } svg text { fill: currentColor; font-size: 12px; }
ul.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; } .legend i { display: inline-block;
width: .8rem; height: .8rem; margin-right: .3rem; }
@media (max-width: 640px) {
  h1 { font-size: 1.5rem; } svg { overflow: visible; } svg text { font-size: 24px; }
  table, tbody, td { display: block; } thead { display: none; }
  tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .2rem .6rem; padding: .5rem 0;
    border-bottom: 1px solid #8886; }
  td { border: 0; padding: 0; } td.n { text-align: left; white-space: normal; }
  td:first-child, td:last-child { grid-column: 1 / -1; }
  td.n::before { content: attr(data-header); display: block; font-size: .8rem; opacity: .75; }
}
</style></head><body>
)";

// Distinct for people who do not see all colours (Okabe and Ito, 2008), then grey for what belongs to no row.
constexpr std::array<std::string_view, 8> kColors = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                     "#56b4e9", "#d55e00", "#f0e442", "#999999"};
constexpr size_t kLayers = kColors.size() - 1;  // the last colour is of the rest
constexpr int kWidth = 960;
constexpr int kHeight = 300;
constexpr int kLeft = 70;
constexpr int kBottom = 40;
constexpr int kTop = 15;

// Headers of the figures.
constexpr std::string_view kJoules = "Joules", kKwh = "kWh", kShare = "Share", kCost = "Cost", kCarbon = "CO2 g";

struct Layer {
  std::string name;
  std::vector<double> watts;  // mean of each bin
};

/// The part of a bin that the report covers. The first and the last bin may be longer than that.
struct Span {
  double begin;  // seconds since the begin of the report
  double end;
};

Span SpanOf(size_t bin, const Report& report) {
  const auto seconds = [&](Milliseconds time) {
    return std::chrono::duration<double>(std::clamp(time, report.from, report.to) - report.from).count();
  };
  const Milliseconds begin = report.bins_from + report.bin_width * bin;
  return {.begin = seconds(begin), .end = seconds(begin + report.bin_width)};
}

void AddBins(const Amount& amount, const Report& report, Layer& layer) {
  layer.watts.resize(std::max(layer.watts.size(), amount.bins.size()));
  for (size_t i = 0; i < amount.bins.size(); ++i) {
    const Span span = SpanOf(i, report);
    if (span.end > span.begin) layer.watts[i] += amount.bins[i].ToJoules() / (span.end - span.begin);
  }
}

/// The largest rows, then all others and what belongs to no row.
std::vector<Layer> LayersOf(const Report& report) {
  std::vector<Layer> layers;
  Layer others{.name = "others and rest", .watts = {}};
  for (size_t i = 0; i < report.rows.size(); ++i) {
    if (i < kLayers) layers.push_back({.name = report.rows[i].name, .watts = {}});
    AddBins(report.rows[i].amount, report, i < kLayers ? layers.back() : others);
  }
  for (const Row& row : report.rest) AddBins(row.amount, report, others);
  layers.resize(std::min(layers.size(), kLayers));
  if (!others.watts.empty()) layers.push_back(std::move(others));
  return layers;
}

std::string_view ColorOf(const std::vector<Layer>& layers, size_t layer) {
  return layers[layer].name == "others and rest" && layer + 1 == layers.size() ? kColors.back() : kColors[layer];
}

std::string Chart(const Report& report) {
  const std::vector<Layer> layers = LayersOf(report);
  const size_t bins = report.total.bins.size();
  if (bins < 2) return {};
  std::vector<double> top(bins);
  for (const Layer& layer : layers)
    for (size_t i = 0; i < layer.watts.size(); ++i) top[i] += layer.watts[i];
  const double max = std::max(std::ranges::max(top), 1e-9);
  const double per_second = (kWidth - kLeft) / std::chrono::duration<double>(report.to - report.from).count();
  const auto y = [&](double watts) { return kTop + (kHeight - kTop - kBottom) * (1 - watts / max); };
  std::string svg =
      fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Power over time, at most {:.1f} W"><g>)", kWidth,
                  kHeight, max);
  std::vector<double> base(bins);
  for (size_t l = 0; l < layers.size(); ++l) {
    svg += fmt::format("<g fill=\"{}\">", ColorOf(layers, l));
    for (size_t i = 0; i < layers[l].watts.size(); ++i) {
      const double watts = std::max(layers[l].watts[i], 0.0);
      const Span span = SpanOf(i, report);
      if (watts > 0)
        fmt::format_to(std::back_inserter(svg), R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>)",
                       kLeft + per_second * span.begin, y(base[i] + watts), per_second * (span.end - span.begin) * 0.96,
                       y(base[i]) - y(base[i] + watts));
      base[i] += watts;
    }
    svg += "</g>";
  }
  for (const double part : {0.0, 0.5, 1.0})
    svg += fmt::format(R"(<text x="{}" y="{:.0f}" text-anchor="end">{:.1f} W</text>)", kLeft - 8, y(max * part) + 4,
                       max * part);
  svg += fmt::format(R"(<text x="{}" y="{}">{}</text>)", kLeft, kHeight - 12, TimeText(report.from));
  svg += fmt::format(R"(<text x="{}" y="{}" text-anchor="end">{}</text></g></svg><ul class="legend">)", kWidth,
                     kHeight - 12, TimeText(report.to));
  for (size_t l = 0; l < layers.size(); ++l)
    svg += fmt::format(R"(<li><i style="background:{}"></i>{}</li>)", ColorOf(layers, l), EscapeHtml(layers[l].name));
  return "<h2>Power over time</h2>\n" + svg + "</ul>\n";
}

std::string LineOf(std::string_view kind, std::string_view name, const Amount& amount, const Report& report,
                   const Prices& prices) {
  const double percent = ShareOf(amount, report) * 100;
  std::string line = fmt::format(R"(<tr class="{}"><td>{}</td>)", kind, EscapeHtml(name));
  // On a narrow screen the header stands above each figure, in place of the header row.
  const auto put = [&](std::string_view header, std::string_view figure) {
    line += fmt::format(R"(<td class="n" data-header="{}">{}</td>)", header, EscapeHtml(figure));
  };
  put(kJoules, fmt::format("{:.3f}", amount.energy.ToJoules()));
  put(kKwh, fmt::format("{:.6f}", KwhOf(amount.energy)));
  put(kShare, fmt::format("{:.2f} %", percent));
  if (prices.per_kwh) put(kCost, console::DecimalText(KwhOf(amount.energy) * *prices.per_kwh, kCostDecimals));
  if (prices.has_carbon) put(kCarbon, console::DecimalText(amount.grams, kGramDecimals));
  return line + fmt::format("<td><div class=\"bar\"><i style=\"width:{:.1f}%\"></i></div></td></tr>\n",
                            std::clamp(percent, 0.0, 100.0));
}

std::string Table(const Report& report, const Prices& prices) {
  std::string table = fmt::format(
      "<h2>Energy by {0}</h2>\n<div class=\"wide\"><table><thead><tr><th scope=\"col\">{0}</th>", ToString(report.by));
  const auto put = [&](std::string_view header) {
    table += fmt::format(R"(<th scope="col" class="n">{}</th>)", header);
  };
  for (const std::string_view header : {kJoules, kKwh, kShare}) put(header);
  if (prices.per_kwh) put(kCost);
  if (prices.has_carbon) put(kCarbon);
  table += "<th scope=\"col\">Part of all</th></tr></thead><tbody>\n";
  for (const Row& row : report.rows) table += LineOf("row", row.name, row.amount, report, prices);
  for (const Row& row : report.rest) table += LineOf("rest", row.name, row.amount, report, prices);
  return table + LineOf("total", "total", report.total, report, prices) + "</tbody></table></div>\n";
}

}  // namespace

std::string ReportHtml(const Report& report, const Prices& prices) {
  std::string page(kHead);
  page += fmt::format("<h1>Energy report</h1>\n<p>{} of {}, from {} to {}</p>\n",
                      EscapeHtml(fmt::format("{}", fmt::join(report.zones, " + "))),
                      CountText(report.nodes.size(), "node"), TimeText(report.from), TimeText(report.to));
  page += Chart(report) + Table(report, prices);
  const std::string notes = ReportNotes(report);
  Splitter lines(notes, '\n');
  while (const auto line = lines.Next())
    if (!line->empty()) page += fmt::format("<p>{}.</p>\n", EscapeHtml(*line));
  return page + "</body></html>\n";
}

}  // namespace kepler::report
