#pragma once
// The part of a panel that has axes, and the marks in it. Pure; internal to the room.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/plot/axis.h"
#include "lab/plot/chart.h"
#include "lab/plot/drawing.h"

namespace kepler::lab::plot {

inline constexpr Color kInk = {.red = 40, .green = 40, .blue = 40};
inline constexpr Color kFaint = {.red = 225, .green = 225, .blue = 225};
inline constexpr double kTextSize = 12;

inline Text LabelAt(Point at, std::string text, Align align, Color color = kInk) {
  return {.at = at, .text = std::move(text), .size = kTextSize, .color = color, .align = align};
}

struct Area {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double right() const { return left + width; }
  [[nodiscard]] double bottom() const { return top + height; }
};

/// Where data is drawn, and by which axes.
struct Frame {
  Area area;
  Axis x;
  Axis y;
  /// To a tenth of a pixel.
  [[nodiscard]] Point At(const Point& data) const;
};

struct Range {
  double min = 0;
  double max = 0;
};

/// Grid, ticks and labels within `outer`; the frame is what they leave. Where `numbered_x` is false the x axis has
/// neither ticks nor room for them.
[[nodiscard]] Frame DrawFrame(const Area& outer, const Range& x, const Range& y, bool numbered_x, Drawing& out);

/// As much of `text` as fits, with "…" where it is cut.
[[nodiscard]] std::string Fitted(std::string_view text, double size, double width);

/// From `x` on.
void DrawChart(const Panel& panel, const Area& outer, Drawing& out, std::string& note);

// Fewer marks that look the same: a page has some thousand pixels, a table up to a million rows. The same points give
// the same marks.

/// More are drawn as cells.
inline constexpr size_t kMaxDots = 5000;
inline constexpr double kCell = 3;  // pixels
inline constexpr size_t kShades = 4;

struct Shaded {
  std::vector<Point> by_shade[kShades];  // the more points in a cell, the later
  bool thinned = false;                  // centers of cells in place of points
};

/// Where many points are close they get a darker shade; more than kMaxDots are one mark a cell.
[[nodiscard]] Shaded ShadeDots(const std::vector<Point>& points);

/// Points in the order of x: of those in one column of pixels the first, the lowest, the highest and the last, in their
/// order. What has two points a pixel or fewer stays as it is.
[[nodiscard]] std::vector<Point> ThinLine(const std::vector<Point>& points);

}  // namespace kepler::lab::plot
