#pragma once
// Texts and figures as cells of a terminal: safe to print, and of a known number of columns. Pure.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kepler::top {

enum class Glyphs : uint8_t { kUtf8, kAscii };
enum class Side : uint8_t { kLeft, kRight };

/// Returns `text` on one line of at most `max` columns. Control characters and characters without a known width become
/// '?'. With kAscii every other character becomes one '?' per column. A cut text ends in '…', with kAscii in '~'.
[[nodiscard]] std::string Shown(std::string_view text, size_t max, Glyphs glyphs);
/// Number of columns of a text that Shown() returned.
[[nodiscard]] size_t WidthOf(std::string_view shown);
/// Returns Shown(), padded with blanks to `width` columns.
[[nodiscard]] std::string Cell(std::string_view text, size_t width, Side side, Glyphs glyphs);

/// "12.50"; "-" for nothing.
[[nodiscard]] std::string WattsText(std::optional<double> watts);
/// "345.7", "12.35k", "4.56M".
[[nodiscard]] std::string JoulesText(double joules);
[[nodiscard]] std::string CoresText(std::optional<double> cores);
/// "12.3s", "12m34s", "3h04m", "5d03h".
[[nodiscard]] std::string TimeText(double seconds);
/// Returns the amount with two to six decimals, so that small amounts have three digits; "<0.00001" for less.
[[nodiscard]] std::string MoneyText(double amount);
/// "<0.001g", "12.3g", "4.56kg", "7.89t".
[[nodiscard]] std::string CarbonText(double grams);

/// Returns one column per value for the last `width` values, from their minimum to their maximum; blank if missing.
[[nodiscard]] std::string Sparkline(std::span<const std::optional<double>> values, size_t width, Glyphs glyphs);

}  // namespace kepler::top
