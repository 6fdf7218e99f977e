#pragma once
// Fewer marks that look the same: a page has some thousand pixels, a table up to a million rows. Pure; the same points
// give the same marks.
#include <cstddef>
#include <vector>

#include "lab/plot/drawing.h"

namespace kepler::lab::plot {

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
