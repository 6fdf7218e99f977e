#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/plot/frame.h"

namespace kepler::lab::plot {
namespace {

constexpr double kDot = 3.2;
constexpr double kLineWidth = 1.2;
constexpr size_t kFew = 200;       // points that can be larger
constexpr double kHeadroom = 1.1;  // for what stands above the highest column

Color Faded(Color color, double alpha) {
  color.alpha = alpha;
  return color;
}

struct Extent {
  Range x{.min = std::numeric_limits<double>::infinity(), .max = -std::numeric_limits<double>::infinity()};
  Range y = x;
};

void Include(Range& range, double value) {
  range.min = std::min(range.min, value);
  range.max = std::max(range.max, value);
}

Extent ExtentOf(const std::vector<Series>& all) {
  Extent extent;
  for (const Series& series : all)
    for (const Point& point : series.points) {
      Include(extent.x, point.x);
      Include(extent.y, point.y);
    }
  if (extent.x.min > extent.x.max) extent.x = extent.y = {.min = 0, .max = 1};
  return extent;
}

std::vector<Point> Placed(const Frame& frame, const Series& series) {
  std::vector<Point> points;
  points.reserve(series.points.size());
  for (const Point& point : series.points) points.push_back(frame.At(point));
  return points;
}

void DrawDots(const Frame& frame, const Series& series, Drawing& out, std::string& note) {
  const Shaded shaded = ShadeDots(Placed(frame, series));
  const bool few = series.points.size() <= kFew;
  for (size_t shade = 0; shade < kShades; ++shade) {
    const double alpha = few ? 0.8 : 0.35 + 0.65 * static_cast<double>(shade) / (kShades - 1);
    if (!shaded.by_shade[shade].empty())
      out.shapes.emplace_back(Dots{
          .centers = shaded.by_shade[shade], .color = Faded(series.color, alpha), .diameter = few ? 2 * kDot : kDot});
  }
  if (shaded.thinned)
    note = fmt::format("{} points, {:g} px cells; darker: more points",
                       Grouped(static_cast<double>(series.points.size()), 0), kCell);
}

void DrawLine(const Frame& frame, const Series& series, Drawing& out, std::string& note) {
  const std::vector<Point> whole = Placed(frame, series);
  std::vector<Point> points = ThinLine(whole);
  if (points.size() < whole.size())
    note = fmt::format("{} points: min and max per pixel", Grouped(static_cast<double>(whole.size()), 0));
  if (points.size() == 1)
    out.shapes.emplace_back(Dots{.centers = std::move(points), .color = series.color, .diameter = 2 * kDot});
  else
    out.shapes.emplace_back(Line{.points = std::move(points), .color = Faded(series.color, 0.85), .width = kLineWidth});
}

void Draw(const Marks& chart, const Area& outer, Drawing& out, std::string& note) {
  const bool diagonal = chart.guide == Marks::Guide::kDiagonal;
  Extent extent = ExtentOf(chart.series);
  if (diagonal)
    extent.x = extent.y = {.min = std::min(extent.x.min, extent.y.min), .max = std::max(extent.x.max, extent.y.max)};
  if (chart.guide == Marks::Guide::kZero) Include(extent.y, 0);
  const Frame frame = DrawFrame(outer, extent.x, extent.y, true, out);
  for (const Series& series : chart.series) (chart.lines ? DrawLine : DrawDots)(frame, series, out, note);
  if (chart.guide == Marks::Guide::kNone) return;
  const double low = diagonal ? std::max(frame.x.min, frame.y.min) : frame.x.min;
  const double high = diagonal ? std::min(frame.x.max, frame.y.max) : frame.x.max;
  out.shapes.emplace_back(
      Line{.points = {frame.At({.x = low, .y = diagonal ? low : 0}), frame.At({.x = high, .y = diagonal ? high : 0})},
           .color = kInk,
           .width = kLineWidth,
           .dashed = true});
}

/// Labels at edges: as many as fit, the first always.
void DrawEdges(const Columns& chart, const Frame& frame, Drawing& out) {
  double free_from = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < chart.edges.size(); ++i) {
    Text label = LabelAt({.x = frame.At({.x = static_cast<double>(i), .y = 0}).x, .y = frame.area.bottom() + 18},
                         Short(chart.edges[i]), Align::kCenter, kGrey);
    const double half = WidthOf(label) / 2;
    if (label.at.x - half < free_from) continue;
    free_from = label.at.x + half + 6;
    out.shapes.emplace_back(std::move(label));
  }
}

void Draw(const Columns& chart, const Area& outer, Drawing& out, std::string& /*note*/) {
  double highest = 0;
  for (const double height : chart.heights) highest = std::max(highest, height);
  Area inner = outer;
  inner.width -= 20;  // for the half of the last label
  const auto count = static_cast<double>(chart.heights.size());
  const Frame frame = DrawFrame(inner, {.min = 0, .max = count}, {.min = 0, .max = highest * kHeadroom}, false, out);
  constexpr double kGap = 3;
  for (size_t i = 0; i < chart.heights.size(); ++i) {
    const bool is_known = !std::isnan(chart.heights[i]);
    const Point corner = frame.At({.x = static_cast<double>(i), .y = is_known ? chart.heights[i] : 0});
    const double width = frame.area.width / count;
    if (is_known)
      out.shapes.emplace_back(Box{.corner = {.x = corner.x + kGap, .y = corner.y},
                                  .width = std::max(width - 2 * kGap, 1.0),
                                  .height = frame.area.bottom() - corner.y,
                                  .fill = chart.color});
    Text value = LabelAt({.x = corner.x + width / 2, .y = corner.y - 5}, is_known ? Short(chart.heights[i]) : "-",
                         Align::kCenter);
    if (WidthOf(value) <= width) out.shapes.emplace_back(std::move(value));
  }
  DrawEdges(chart, frame, out);
}

void Draw(const Bars& chart, const Area& outer, Drawing& out, std::string& /*note*/) {
  constexpr double kGap = 10;
  double longest = 0;
  double names = 0;
  double texts = 0;
  for (const Bars::Bar& bar : chart.bars) {
    longest = std::max(longest, bar.length);
    names = std::max(names, WidthOf(LabelAt({}, bar.name, Align::kRight)));
    texts = std::max(texts, WidthOf(LabelAt({}, bar.text, Align::kLeft)));
  }
  names = std::min(names, outer.width * 0.4);
  const double room = std::max(outer.width - names - texts - 2 * kGap, 1.0);
  const double row = std::min(outer.height / static_cast<double>(std::max<size_t>(chart.bars.size(), 1)), 48.0);
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    const Bars::Bar& bar = chart.bars[i];
    const double middle = outer.top + (static_cast<double>(i) + 0.5) * row;
    const double length = longest > 0 ? bar.length / longest * room : 0;
    const Point start{.x = outer.left + names + kGap, .y = middle - row * 0.35};
    out.shapes.emplace_back(LabelAt({.x = outer.left + names, .y = middle + kTextSize * 0.35},
                                    Fitted(bar.name, kTextSize, names), Align::kRight));
    out.shapes.emplace_back(Box{.corner = start, .width = length, .height = row * 0.7, .fill = i == 0 ? kBlue : kGrey});
    out.shapes.emplace_back(
        LabelAt({.x = start.x + length + kGap, .y = middle + kTextSize * 0.35}, bar.text, Align::kLeft));
  }
}

}  // namespace

void DrawChart(const Panel& panel, const Area& outer, Drawing& out, std::string& note) {
  std::visit([&](const auto& chart) { Draw(chart, outer, out, note); }, panel.chart);
}

}  // namespace kepler::lab::plot
