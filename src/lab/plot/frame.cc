#include "lab/plot/frame.h"

#include <algorithm>
#include <cmath>

namespace kepler::lab::plot {
namespace {

constexpr double kTickGap = 8;  // between labels and their axis
constexpr double kLabelHeight = 18;
constexpr double kTickDistance = 60;  // approximate distance between two lines of the grid

double Tenth(double pixels) { return std::round(pixels * 10) / 10; }

double WidthOfLabel(const std::string& label) { return WidthOf(LabelAt({}, label, Align::kLeft)); }

double WidestLabel(const Axis& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks) widest = std::max(widest, WidthOfLabel(tick.label));
  return widest;
}

/// Returns the axis with the most ticks whose labels do not overlap.
Axis FittingAxis(const Range& range, double width) {
  for (int wanted = std::max(2, static_cast<int>(width / kTickDistance)); wanted > 1; --wanted) {
    Axis axis = MakeAxis(range.min, range.max, wanted);
    const double room = width / static_cast<double>(axis.ticks.size() - 1);
    if (WidestLabel(axis) + 2 * kTickGap <= room) return axis;
  }
  return MakeAxis(range.min, range.max, 1);
}

void DrawGrid(const Frame& frame, bool numbered_x, Drawing& out) {
  for (const Tick& tick : frame.y.ticks) {
    const double y = frame.At({.x = frame.x.min, .y = tick.at}).y;
    out.shapes.emplace_back(
        Line{.points = {{.x = frame.area.left, .y = y}, {.x = frame.area.right(), .y = y}}, .color = kFaint});
    out.shapes.emplace_back(
        LabelAt({.x = frame.area.left - kTickGap, .y = y + kTextSize * 0.35}, tick.label, Align::kRight, kGrey));
  }
  if (!numbered_x) return;
  for (const Tick& tick : frame.x.ticks) {
    const double x = frame.At({.x = tick.at, .y = frame.y.min}).x;
    out.shapes.emplace_back(
        Line{.points = {{.x = x, .y = frame.area.top}, {.x = x, .y = frame.area.bottom()}}, .color = kFaint});
    out.shapes.emplace_back(
        LabelAt({.x = x, .y = frame.area.bottom() + kLabelHeight}, tick.label, Align::kCenter, kGrey));
  }
}

}  // namespace

Point Frame::At(const Point& data) const {
  return {.x = Tenth(area.left + x.Share(data.x) * area.width),
          .y = Tenth(area.bottom() - y.Share(data.y) * area.height)};
}

Frame DrawFrame(const Area& outer, const Range& x, const Range& y, bool numbered_x, Drawing& out) {
  Frame frame;
  frame.area = outer;
  frame.area.height -= kLabelHeight + kTickGap;
  frame.y = MakeAxis(y.min, y.max, static_cast<int>(frame.area.height / kTickDistance) + 1);
  const double margin = WidestLabel(frame.y) + kTickGap;
  frame.area.left += margin;
  frame.area.width -= margin;
  if (numbered_x) {
    frame.x = FittingAxis(x, frame.area.width);
    const double beyond = WidthOfLabel(frame.x.ticks.back().label) / 2;  // half of the last label is right of the area
    frame.area.width -= beyond;
  } else {
    frame.x = {.min = x.min, .max = x.max, .ticks = {}};
  }
  DrawGrid(frame, numbered_x, out);
  return frame;
}

std::string Fitted(std::string_view text, double size, double width) {
  Text whole{.at = {}, .text = std::string(text), .size = size, .color = {}};
  if (WidthOf(whole) <= width) return whole.text;
  while (!text.empty()) {
    do text.remove_suffix(1);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0);  // never within a character
    whole.text = std::string(text) + "\u2026";
    if (WidthOf(whole) <= width) break;
  }
  return whole.text;
}

}  // namespace kepler::lab::plot
