#include <algorithm>
#include <ranges>
#include <utility>

#include "lab/plot/chart.h"
#include "lab/plot/frame.h"

namespace kepler::lab::plot {
namespace {

constexpr double kPageWidth = 1200;
constexpr double kMargin = 32;
constexpr double kColumnGap = 40;
constexpr double kPanelHeight = 360;
constexpr double kWideHeight = 320;
constexpr double kSingleWidth = 440;
constexpr double kSingleHeight = 330;
constexpr double kSingleMargin = 12;
constexpr double kRowGap = 36;
constexpr double kTitleSize = 22;
constexpr double kPanelTitleSize = 15;
constexpr double kFactSize = 24;
constexpr Color kWhite = {.red = 255, .green = 255, .blue = 255};

Text Words(Point at, std::string text, double size, Color color, bool bold = false) {
  return {.at = at, .text = std::move(text), .size = size, .color = color, .align = Align::kLeft, .bold = bold};
}

/// From the right; where it begins.
double DrawLegend(const Panel& panel, double right, double base, Drawing& out) {
  const auto* const marks = std::get_if<Marks>(&panel.chart);
  if (marks == nullptr || marks->series.size() < 2) return right;
  for (const Series& series : std::views::reverse(marks->series)) {
    Text name = Words({.x = 0, .y = base}, series.name, kTextSize, kInk);
    right -= WidthOf(name);
    name.at.x = right;
    out.shapes.emplace_back(std::move(name));
    right -= 18;
    out.shapes.emplace_back(
        Box{.corner = {.x = right, .y = base - 9}, .width = 12, .height = 10, .fill = series.color});
    right -= 16;
  }
  return right;
}

/// Title and legend, then what the y axis means and the note, then the chart, then what the x axis means.
void DrawPanel(const Panel& panel, const Area& area, Drawing& out) {
  const double legend = DrawLegend(panel, area.right(), area.top + kPanelTitleSize, out);
  out.shapes.emplace_back(Words({.x = area.left, .y = area.top + kPanelTitleSize},
                                Fitted(panel.title, kPanelTitleSize * 1.1, legend - area.left), kPanelTitleSize, kInk,
                                true));
  const double second = area.top + kPanelTitleSize + 22;
  const Area chart{.left = area.left, .top = second + 14, .width = area.width, .height = area.bottom() - second - 38};
  std::string note;
  DrawChart(panel, chart, out, note);
  Text unit = Words({.x = area.left, .y = second}, note, kTextSize, kGrey);
  if (!note.empty() && !panel.y_label.empty()) unit.text.insert(0, " \u00b7 ");
  // A long name is cut, and the note stays whole.
  unit.text.insert(0, Fitted(panel.y_label, kTextSize, area.width - WidthOf(unit)));
  out.shapes.emplace_back(std::move(unit));
  out.shapes.emplace_back(LabelAt({.x = area.left + area.width / 2, .y = area.bottom() - 2},
                                  Fitted(panel.x_label, kTextSize, area.width), Align::kCenter, kGrey));
}

/// Where it ends.
double DrawHead(const Page& page, Drawing& out) {
  const double width = kPageWidth - 2 * kMargin;
  double y = kMargin + kTitleSize;
  out.shapes.emplace_back(
      Words({.x = kMargin, .y = y}, Fitted(page.title, kTitleSize * 1.1, width), kTitleSize, kInk, true));
  y += 24;
  out.shapes.emplace_back(Words({.x = kMargin, .y = y}, Fitted(page.subtitle, 13, width), 13, kGrey));
  y += 44;
  const double step = width / static_cast<double>(std::max<size_t>(page.facts.size(), 4));
  for (size_t i = 0; i < page.facts.size(); ++i) {
    const double x = kMargin + step * static_cast<double>(i);
    Text value = Words({.x = x, .y = y}, page.facts[i].value, kFactSize, kBlue, true);
    value.size *= std::min(1.0, (step - kMargin) / WidthOf(value));
    out.shapes.emplace_back(std::move(value));
    out.shapes.emplace_back(Words({.x = x, .y = y + 20}, page.facts[i].meaning, kTextSize, kGrey));
  }
  return y + 20 + kRowGap;
}

}  // namespace

double WidthOf(const Text& text) {
  // DejaVu Sans, the widest of the common fonts: digits take 0.64 of its size, few letters more.
  const auto characters =
      std::ranges::count_if(text.text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
  return static_cast<double>(characters) * text.size * (text.bold ? 0.70 : 0.64);
}

Drawing LayOut(const Page& page) {
  Drawing out;
  out.width = kPageWidth;
  out.shapes.emplace_back(Box{});  // the paper, once its size is known
  double top = DrawHead(page, out);
  const double half = (kPageWidth - 2 * kMargin - kColumnGap) / 2;
  for (size_t i = 0; i < page.panels.size();) {
    const bool pair = !page.panels[i].wide && i + 1 < page.panels.size() && !page.panels[i + 1].wide;
    const double height = pair ? kPanelHeight : kWideHeight;
    Area area{.left = kMargin, .top = top, .width = pair ? half : kPageWidth - 2 * kMargin, .height = height};
    DrawPanel(page.panels[i++], area, out);
    if (pair) {
      area.left += half + kColumnGap;
      DrawPanel(page.panels[i++], area, out);
    }
    top += height + kRowGap;
  }
  out.height = top - kRowGap + kMargin;
  out.shapes.front() = Box{.corner = {}, .width = out.width, .height = out.height, .fill = kWhite};
  return out;
}

Drawing LayOut(const Panel& panel) {
  Drawing out;
  out.width = kSingleWidth;
  out.height = kSingleHeight;
  out.shapes.emplace_back(Box{.corner = {}, .width = out.width, .height = out.height, .fill = kWhite});
  DrawPanel(panel,
            {.left = kSingleMargin,
             .top = kSingleMargin,
             .width = kSingleWidth - 2 * kSingleMargin,
             .height = kSingleHeight - 2 * kSingleMargin},
            out);
  return out;
}

}  // namespace kepler::lab::plot
