#include "modelserver/card_sections.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "base/html.h"
#include "lab/judging/plot_page.h"
#include "lab/judging/report.h"
#include "lab/plot/chart.h"
#include "lab/plot/render.h"

namespace kepler::modelserver {
namespace {

namespace judging = lab::judging;
namespace plot = lab::plot;

constexpr size_t kMaxDecisions = 20;

plot::Panel PanelOf(const model::ComponentModel& component) {
  plot::Marks marks;
  marks.guide = plot::Marks::Guide::kDiagonal;
  plot::Series series{.name = "", .color = plot::kBlue, .points = {}};
  const model::TestedRows& tested = component.tested;
  for (size_t i = 0; i < tested.actual.size(); ++i) series.points.push_back({tested.actual[i], tested.predicted[i]});
  marks.series.push_back(std::move(series));
  return {.title = std::string(model::Name(component.component)),
          .x_label = "Meter, W",
          .y_label = "Prediction, W",
          .wide = false,
          .chart = std::move(marks)};
}

/// Empty if it cannot be drawn: the tables have the figures.
std::string Chart(const model::ComponentModel& component) {
  const auto svg = plot::RenderSvg(plot::LayOut(PanelOf(component)));
  return plot::Figure(svg ? std::string_view(*svg) : std::string_view(),
                      fmt::format("{}: predicted against actual watts", model::Name(component.component)),
                      static_cast<size_t>(component.component));
}

std::string Loads(const model::ComponentModel& component) {
  std::string rows;
  for (const judging::LoadBand& band : judging::BandsOf(component.tested.actual, component.tested.predicted))
    rows += fmt::format(
        "<tr><td class=\"n\">{:.2f} to {:.2f}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f}</td>"
        "<td class=\"n\">{}</td></tr>\n",
        band.from, band.to, band.errors.rows, band.errors.mae_watts, judging::MapeText(band.errors));
  return fmt::format(
      "<h3>{}: errors by load</h3>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">Meter (W)</th>"
      "<th class=\"n\">Rows</th><th class=\"n\">MAE (W)</th><th class=\"n\">MAPE (%)</th></tr></thead><tbody>\n{}"
      "</tbody></table></div>\n",
      model::Name(component.component), rows);
}

std::string Watts(const std::optional<double>& watts) { return watts ? fmt::format("{:.2f}", *watts) : "-"; }

/// "2026-11-27 20:15"; "-" for a time that is not stated or not possible.
std::string DateOf(double seconds) {
  constexpr double kYear3000 = 32'503'680'000;
  if (!(seconds > 0 && seconds < kYear3000)) return "-";
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string DecisionRow(const Decision& decision) {
  return fmt::format(
      "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n more\">{}</td>"
      "<td class=\"n more\">{}</td><td class=\"n more\">{}</td><td>{}</td></tr>\n",
      DateOf(decision.time), decision.new_version, decision.is_published ? "yes" : "no", Watts(decision.old_mae),
      Watts(decision.new_mae), decision.rows, EscapeHtml(decision.reason));
}

}  // namespace

std::string TestedSection(const model::PowerModel& model) {
  const auto has_rows = [](const model::ComponentModel& component) { return !component.tested.actual.empty(); };
  if (std::ranges::none_of(model.components, has_rows)) return {};
  std::string out =
      "<h2>Rows outside the training data</h2>\n<p>Each row was predicted by a model that was trained without "
      "it.</p>\n";
  out += "<div class=\"charts\">\n";
  for (const model::ComponentModel& component : model.components)
    if (has_rows(component)) out += Chart(component);
  out += "</div>\n";
  for (const model::ComponentModel& component : model.components)
    if (has_rows(component)) out += Loads(component);
  return out;
}

std::string DecisionSection(std::span<const Decision> decisions) {
  if (decisions.empty()) return {};
  std::string rows;
  const size_t shown = std::min(decisions.size(), kMaxDecisions);
  for (size_t i = 0; i < shown; ++i) rows += DecisionRow(decisions[decisions.size() - 1 - i]);
  return fmt::format(
      "<h2>Versions</h2>\n<p>A new version and the one before it were tested on rows that trained neither. A "
      "rollback is not tested.</p>\n<div class=\"wide\"><table>"
      "<thead><tr><th>Date (UTC)</th><th class=\"n\">Version</th><th>Published</th>"
      "<th class=\"n more\">MAE before (W)</th><th class=\"n more\">MAE (W)</th>"
      "<th class=\"n more\">Rows</th><th>Reason</th></tr></thead><tbody>\n{}</tbody></table></div>\n",
      rows);
}

}  // namespace kepler::modelserver
