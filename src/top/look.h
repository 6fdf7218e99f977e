#pragma once
// Look: capabilities of the terminal and prices. Line: a line of the screen. Pure.
#include <cstdint>
#include <optional>
#include <string>

#include "top/text_cells.h"

namespace kepler::top {

/// Characters that the terminal can show, figures to show, and the price and emissions of a kilowatt-hour.
struct Look {
  Glyphs glyphs = Glyphs::kUtf8;
  std::optional<double> price{};   // currency per kWh
  std::optional<double> carbon{};  // grams per kWh
  bool has_cores = true;           // CPU use is known, or will be with the next answer
};

[[nodiscard]] constexpr double KilowattHours(double joules) { return joules / 3.6e6; }

enum class Style : uint8_t { kPlain, kTitle, kHeader, kSelected, kDim, kAlert };

struct Line {
  std::string text{};
  Style style = Style::kPlain;
};

}  // namespace kepler::top
