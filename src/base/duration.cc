#include "base/duration.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <ranges>

#include "base/parse.h"

namespace kepler {
namespace {

struct Unit {
  std::string_view name;
  uint64_t nanoseconds;
};

// The first unit of each size is used for printing. Days are only read, because Go does not know them.
constexpr std::array kUnits = {
    Unit{"d", 86'400'000'000'000}, Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000},
    Unit{"s", 1'000'000'000},      Unit{"ms", 1'000'000},        Unit{"us", 1'000},
    Unit{"\u00B5s", 1'000},        Unit{"\u03BCs", 1'000},       Unit{"ns", 1},
};
constexpr uint64_t kMax = uint64_t{1} << 63;  // |INT64_MIN|

std::optional<uint64_t> FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit.nanoseconds;
  return std::nullopt;
}

std::unexpected<Error> Bad(std::string_view text, std::string_view why) {
  return Fail(ErrorKind::kInvalid, fmt::format("\"{}\" is not a duration: {}", text, why));
}

/// Removes the leading digits of `rest` and returns their value; nothing if it exceeds kMax.
std::optional<uint64_t> TakeWhole(std::string_view& rest) {
  uint64_t value = 0;
  for (; !rest.empty() && IsDigit(rest.front()); rest.remove_prefix(1)) {
    const auto digit = static_cast<uint64_t>(rest.front() - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

struct Fraction {
  double value = 0;
  double scale = 1;
};

/// Removes the leading digits of `rest` and returns them as a fraction. Digits beyond a double's precision are dropped,
/// as in Go.
Fraction TakeFraction(std::string_view& rest) {
  Fraction fraction;
  for (; !rest.empty() && IsDigit(rest.front()); rest.remove_prefix(1)) {
    if (fraction.scale >= 1e18) continue;
    fraction.value = fraction.value * 10 + (rest.front() - '0');
    fraction.scale *= 10;
  }
  return fraction;
}

/// Removes one part such as "12.5ms" from `rest` and returns it in nanoseconds.
Result<uint64_t> TakePart(std::string_view text, std::string_view& rest) {
  const size_t before = rest.size();
  const auto whole = TakeWhole(rest);
  if (!whole) return Bad(text, "too long");
  bool has_digits = rest.size() != before;
  Fraction fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    const size_t after_point = rest.size();
    fraction = TakeFraction(rest);
    has_digits = has_digits || rest.size() != after_point;
  }
  if (!has_digits) return Bad(text, "a number is missing; write for example 500ms, 1m30s or 1.5h");
  const std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
  rest.remove_prefix(name.size());
  if (name.empty()) return Bad(text, "the unit is missing (ns, us, ms, s, m, h, d)");
  const auto unit = FindUnit(name);
  if (!unit) return Bad(text, fmt::format("unknown unit \"{}\" (ns, us, ms, s, m, h, d)", name));
  if (*whole > kMax / *unit) return Bad(text, "too long");
  const auto part = static_cast<uint64_t>(fraction.value * (static_cast<double>(*unit) / fraction.scale));
  return *whole * *unit + part;  // at most 2^63 + one day
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  if (rest == "0") return Duration{0};
  uint64_t total = 0;
  do {
    KEPLER_TRY(const uint64_t part, TakePart(text, rest));
    if (part > kMax - total) return Bad(text, "too long");
    total += part;
  } while (!rest.empty());
  if (negative) return Duration{static_cast<int64_t>(~total + 1)};
  if (total == kMax) return Bad(text, "too long");
  return Duration{static_cast<int64_t>(total)};
}

std::string FormatDuration(Duration value) {
  if (value == Duration::zero()) return "0s";
  std::string out = value < Duration::zero() ? "-" : "";
  auto rest = static_cast<uint64_t>(value.count());
  if (value < Duration::zero()) rest = ~rest + 1;
  for (const Unit& unit : kUnits | std::views::drop(1)) {
    if (rest >= unit.nanoseconds) out += fmt::format("{}{}", rest / unit.nanoseconds, unit.name);
    rest %= unit.nanoseconds;
  }
  return out;
}

}  // namespace kepler
