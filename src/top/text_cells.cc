#include "top/text_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "export/stdout/text_table.h"

namespace kepler::top {
namespace {

constexpr std::array<std::string_view, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiBars = "_.-=+*%#";
static_assert(kBars.size() == kAsciiBars.size());
constexpr double kFlat = 0.02;  // a smaller relative range is drawn as a flat line

std::string InAscii(std::string_view printable) {
  std::string out;
  while (!printable.empty()) {
    const Character next = FirstCharacter(printable);
    const std::string_view text = printable.substr(0, next.bytes);
    if (next.code < 0x80)
      out += text;
    else
      out += text == "…" ? "~" : std::string(console::Columns(text), '?');
    printable.remove_prefix(next.bytes);
  }
  return out;
}

/// `value` divided by the power of 1000 that leaves one to three digits before the point.
std::string Scaled(double value, std::span<const std::string_view> units, int first_decimals) {
  size_t unit = 0;
  for (; std::abs(value) >= 999.995 && unit + 1 < units.size(); ++unit) value /= 1000;
  if (std::abs(value) >= 1e6) return fmt::format("{:.2e}{}", value, units[unit]);
  return fmt::format("{:.{}f}{}", value, unit == 0 ? first_decimals : 2, units[unit]);
}

}  // namespace

std::string Shown(std::string_view text, size_t max, Glyphs glyphs) {
  if (max == 0) return {};
  std::string shown = console::Printable(text, max);
  return glyphs == Glyphs::kUtf8 ? shown : InAscii(shown);
}

size_t WidthOf(std::string_view shown) { return console::Columns(shown); }

std::string Cell(std::string_view text, size_t width, Side side, Glyphs glyphs) {
  std::string cell = Shown(text, width, glyphs);
  const size_t used = WidthOf(cell);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return side == Side::kLeft ? cell + blanks : blanks + cell;
}

std::string WattsText(std::optional<double> watts) {
  if (!watts) return "-";
  const double size = std::abs(*watts);
  if (size >= 1e6) return fmt::format("{:.2e}", *watts);
  return fmt::format("{:.{}f}", *watts, size >= 10'000 ? 0 : size >= 1000 ? 1 : 2);
}

std::string JoulesText(double joules) {
  constexpr std::array<std::string_view, 6> kUnits = {"", "k", "M", "G", "T", "P"};
  return Scaled(joules, kUnits, 1);
}

std::string CoresText(std::optional<double> cores) { return cores ? fmt::format("{:.2f}", *cores) : "-"; }

std::string TimeText(double seconds) {
  if (!(seconds >= 0)) return "-";
  if (seconds < 59.95) return fmt::format("{:.{}f}s", seconds, seconds == std::floor(seconds) ? 0 : 1);
  if (seconds >= 1e12) return fmt::format("{:.0e}s", seconds);
  const auto whole = static_cast<uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86'400, whole / 3600 % 24);
}

std::string MoneyText(double amount) {
  if (std::abs(amount) >= 1e7) return fmt::format("{:.3e}", amount);
  int decimals = 2;
  for (double digits = std::abs(amount); digits < 0.995 && decimals < 6; digits *= 10) ++decimals;
  if (amount > 0 && amount < 1e-5) return "<0.00001";
  return fmt::format("{:.{}f}", amount, amount == 0 ? 2 : decimals);
}

std::string CarbonText(double grams) {
  constexpr std::array<std::string_view, 3> kUnits = {"g", "kg", "t"};
  return std::abs(grams) < 1 ? console::DecimalText(grams, 3) + "g" : Scaled(grams, kUnits, 1);
}

std::string Sparkline(std::span<const std::optional<double>> values, size_t width, Glyphs glyphs) {
  values = values.last(std::min(values.size(), width));
  double low = INFINITY, high = -INFINITY;
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value)) continue;
    low = std::min(low, *value);
    high = std::max(high, *value);
  }
  const double range = high - low;
  const bool flat = !(range > kFlat * std::abs(high));
  std::string out;
  for (const auto& value : values) {
    if (!value || !std::isfinite(*value)) {
      out += ' ';
      continue;
    }
    const double level = flat ? 0 : (*value - low) / range * static_cast<double>(kBars.size());
    const size_t bar = std::min(kBars.size() - 1, static_cast<size_t>(level));
    out += glyphs == Glyphs::kUtf8 ? kBars[bar] : kAsciiBars.substr(bar, 1);
  }
  return out;
}

}  // namespace kepler::top
