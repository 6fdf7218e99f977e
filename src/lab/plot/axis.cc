#include "lab/plot/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace kepler::lab::plot {
namespace {

/// Larger numbers than this are of no use on a page, and their distance may be none that a double holds.
constexpr double kLargest = 1e300;
/// Closer ones have labels that cannot be told apart.
constexpr double kMinRange = 1e-9;

double NiceStep(double range, int wanted) {
  const double rough = range / std::max(wanted, 1);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1, 2, 5})
    if (rough <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

struct Unit {
  double size;
  std::string_view suffix;
};

/// What has more than seven digits is counted in units of its own.
Unit UnitFor(double largest) {
  constexpr Unit kUnits[] = {{.size = 1e15, .suffix = " P"},
                             {.size = 1e12, .suffix = " T"},
                             {.size = 1e9, .suffix = " G"},
                             {.size = 1e6, .suffix = " M"}};
  constexpr double kMaxPlain = 1e7;
  for (const Unit& unit : kUnits)
    if (largest >= std::max(unit.size, kMaxPlain)) return unit;
  return {.size = 1, .suffix = ""};
}

bool IsPlain(double largest) { return largest < 1e18 && (largest == 0 || largest >= 1e-4); }

int DigitsOf(double step) { return std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12); }

std::string TickLabel(double value, double step, double largest) {
  if (value == 0) return "0";
  if (!IsPlain(largest)) return fmt::format("{:.4g}", value);
  const Unit unit = UnitFor(largest);
  return Grouped(value / unit.size, DigitsOf(step / unit.size)) + std::string(unit.suffix);
}

void Widen(double& min, double& max) {
  min = std::clamp(min, -kLargest, kLargest);
  max = std::clamp(max, min, kLargest);
  const double size = std::max(std::abs(min), std::abs(max));
  if (max - min > size * kMinRange) return;
  const double more = size == 0 ? 1 : size / 10;
  min = min == 0 ? 0 : min - more;
  max += more;
}

}  // namespace

Axis MakeAxis(double min, double max, int wanted) {
  Widen(min, max);
  const double step = NiceStep(max - min, wanted);
  const double first = std::floor(min / step + 1e-9);
  const double last = std::max(std::ceil(max / step - 1e-9), first + 1);
  Axis axis{.min = first * step, .max = last * step, .ticks = {}};
  const double largest = std::max(std::abs(axis.min), std::abs(axis.max));
  const auto steps = static_cast<size_t>(last - first);
  axis.ticks.reserve(steps + 1);
  for (size_t i = 0; i <= steps; ++i) {
    const double at = (first + static_cast<double>(i)) * step;
    axis.ticks.push_back({.at = at, .label = TickLabel(at, step, largest)});
  }
  return axis;
}

std::string Grouped(double value, int digits) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), digits);
  size_t point = std::min(text.find('.'), text.size());
  for (; point > 3; point -= 3) text.insert(point - 3, ",");
  const bool is_zero = text.find_first_not_of("0.,") == std::string::npos;
  return value < 0 && !is_zero ? "\u2212" + text : text;
}

std::string Short(double value, int significant) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (!IsPlain(size)) return fmt::format("{:.{}g}", value, significant);
  const Unit unit = UnitFor(size);
  const int before = static_cast<int>(std::floor(std::log10(size / unit.size))) + 1;
  return Grouped(value / unit.size, std::max(significant - before, 0)) + std::string(unit.suffix);
}

}  // namespace kepler::lab::plot
