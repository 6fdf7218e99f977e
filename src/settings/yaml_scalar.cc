#include "settings/yaml_scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/parse.h"
#include "settings/values.h"

namespace kepler::settings {
namespace {

using std::string_view_literals::operator""sv;

/// Parses digits in the base of their prefix: 0x, 0b, 0o, or 0 for octal; otherwise decimal.
std::optional<uint64_t> ParseDigits(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text.front() == '0') {
    const char mark = text[1] >= 'A' && text[1] <= 'Z' ? static_cast<char>(text[1] - 'A' + 'a') : text[1];
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(base != 8 || mark == 'o' ? 2 : 1);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Converts a number for SetText. A whole number is cut toward zero, as in Go. Text that is not a number is unchanged,
/// including words (.nan, .inf) and 0x1p3. Too many digits, or invalid octal digits, become a decimal with a fraction.
Result<PlainScalar> ReadNumber(std::string_view text, bool whole) {
  std::string plain(text);
  std::erase(plain, '_');
  std::string_view digits = plain;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  const bool starts = !digits.empty() && (IsDigit(digits.front()) || digits.front() == '.') && text.front() != '_';
  if (!starts) return PlainScalar{std::string(text)};
  const auto too_large = [text] { return Bad(fmt::format("{} does not fit in 64 bits", Quote(text))); };
  if (const auto magnitude = ParseDigits(digits)) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (whole && *magnitude > kMax + (negative ? 1 : 0)) return too_large();
    return PlainScalar{fmt::format("{}{}", negative ? "-" : "", *magnitude)};
  }
  const auto parsed = ParseNumber<double>(digits);
  if (!parsed || !std::isfinite(*parsed)) return PlainScalar{std::string(text)};
  const double real = negative ? -*parsed : *parsed;
  if (!whole) return PlainScalar{fmt::format("{}", real)};
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (real >= kTwoTo63 || real < -kTwoTo63) return too_large();
  return PlainScalar{fmt::format("{}", static_cast<int64_t>(real)), real != std::trunc(real)};
}

/// Parses YAML 1.1's spellings of booleans other than true and false.
std::optional<bool> ParseYaml11Word(std::string_view text) {
  constexpr std::array kYes = {"y"sv, "Y"sv, "yes"sv, "Yes"sv, "YES"sv, "on"sv, "On"sv, "ON"sv};
  constexpr std::array kNo = {"n"sv, "N"sv, "no"sv, "No"sv, "NO"sv, "off"sv, "Off"sv, "OFF"sv};
  if (std::ranges::find(kYes, text) != kYes.end()) return true;
  if (std::ranges::find(kNo, text) != kNo.end()) return false;
  return std::nullopt;
}

}  // namespace

Result<PlainScalar> ReadScalar(const Field& field, const yaml::Value& scalar) {
  const bool whole = std::holds_alternative<int64_t*>(field) || std::holds_alternative<int*>(field);
  const bool real = std::holds_alternative<double*>(field);
  const bool boolean = std::holds_alternative<bool*>(field);
  if (boolean && scalar.quoted) {
    if (const auto flag = ParseYaml11Word(scalar.text)) return PlainScalar{*flag ? "true" : "false"};
  }
  if (scalar.quoted && (whole || real || boolean))
    return Bad(fmt::format("must be a {}, without quotes", TypeName(field)));
  if (whole || real) return ReadNumber(scalar.text, whole);
  return PlainScalar{scalar.text};
}

}  // namespace kepler::settings
