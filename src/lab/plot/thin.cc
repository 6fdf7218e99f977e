#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "lab/plot/frame.h"

namespace kepler::lab::plot {
namespace {

using Cell = std::pair<int64_t, int64_t>;

Cell CellOf(const Point& point) {
  return {static_cast<int64_t>(std::floor(point.x / kCell)), static_cast<int64_t>(std::floor(point.y / kCell))};
}

Point CenterOf(const Cell& cell) {
  return {.x = (static_cast<double>(cell.first) + 0.5) * kCell, .y = (static_cast<double>(cell.second) + 0.5) * kCell};
}

/// By the logarithm: a cell with half of what the fullest has is nearly as dark.
size_t ShadeOf(size_t count, size_t most) {
  if (most < 2) return 0;
  const double share = std::log(static_cast<double>(count)) / std::log(static_cast<double>(most));
  return std::min(static_cast<size_t>(share * kShades), kShades - 1);
}

}  // namespace

Shaded ShadeDots(const std::vector<Point>& points) {
  std::map<Cell, size_t> counts;
  for (const Point& point : points) ++counts[CellOf(point)];
  size_t most = 0;
  for (const auto& [unused, count] : counts) most = std::max(most, count);
  Shaded shaded;
  shaded.thinned = points.size() > kMaxDots;
  if (shaded.thinned)
    for (const auto& [cell, count] : counts) shaded.by_shade[ShadeOf(count, most)].push_back(CenterOf(cell));
  else
    for (const Point& point : points) shaded.by_shade[ShadeOf(counts[CellOf(point)], most)].push_back(point);
  return shaded;
}

std::vector<Point> ThinLine(const std::vector<Point>& points) {
  if (points.empty()) return {};
  const auto column = [](const Point& point) { return std::floor(point.x); };
  if (static_cast<double>(points.size()) <= 2 * (column(points.back()) - column(points.front()) + 1)) return points;
  std::vector<Point> kept;
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end =
        std::find_if(begin, points.end(), [&](const Point& point) { return column(point) != column(*begin); });
    const auto [low, high] = std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
    std::array picked = {begin, low, high, end - 1};
    std::ranges::sort(picked);
    for (size_t i = 0; i < picked.size(); ++i)
      if (i == 0 || picked[i] != picked[i - 1]) kept.push_back(*picked[i]);
    begin = end;
  }
  return kept;
}

}  // namespace kepler::lab::plot
