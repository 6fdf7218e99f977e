#pragma once
// Axes that end on round numbers, and numbers as people read them. Pure.
#include <string>
#include <vector>

namespace kepler::lab::plot {

struct Tick {
  double at = 0;
  std::string label;
};

struct Axis {
  double min = 0;
  double max = 1;
  std::vector<Tick> ticks;  // at least two, ascending, the first at min and the last at max

  /// From 0 at min to 1 at max.
  [[nodiscard]] double Share(double value) const { return (value - min) / (max - min); }
};

/// Around `min` to `max`, which are finite, with about `wanted` ticks at multiples of 1, 2 or 5 times a power of ten.
/// Where both are nearly the same it is widened, so that min < max always.
[[nodiscard]] Axis MakeAxis(double min, double max, int wanted);

/// "1,234.5" with that many digits behind the point.
[[nodiscard]] std::string Grouped(double value, int digits);

/// With about `significant` digits, for figures and bars: "10.1", "1,234", "0.0123", "12.3 M".
[[nodiscard]] std::string Short(double value, int significant = 3);

}  // namespace kepler::lab::plot
