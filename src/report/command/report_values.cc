#include "report/command/report_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/duration.h"
#include "base/parse.h"
#include "base/parse_time.h"

namespace kepler::report::command {

using report::Milliseconds;

Result<std::optional<Milliseconds>> ReadPeriodEnd(const std::string& text, WallTime now) {
  if (text.empty()) return std::optional<Milliseconds>();
  constexpr std::string_view kForms =
      "a time like 2026-11-23T18:00:00Z, Unix seconds of at least 100000000, or a duration like 24h";
  constexpr double kYear1973 = 1e8;  // a smaller number is probably a year or a day, not Unix seconds
  const auto seconds = ParseTime(text);
  if (seconds && *seconds < kYear1973 && ParseNumber<double>(text))
    return Fail(ErrorKind::kInvalid, fmt::format("{}: a year or a day alone is not a time; use {}", text, kForms));
  if (seconds) return std::optional(Milliseconds(std::chrono::milliseconds(std::llround(*seconds * 1e3))));
  const auto ago = ParseDuration(text);
  if (!ago) return Fail(ErrorKind::kInvalid, fmt::format("must be {}", kForms));
  if (*ago < Duration::zero())
    return Fail(ErrorKind::kInvalid,
                fmt::format("{}: a duration counts back from now; write it without the minus sign", text));
  return std::optional(std::chrono::floor<std::chrono::milliseconds>(now - static_cast<Nanoseconds>(*ago)));
}

Result<std::optional<double>> ReadAmount(const std::string& text, double max, std::string_view what) {
  const auto refuse = [&](std::string_view hint) {
    return Fail(ErrorKind::kInvalid, fmt::format("must be {} from 0 to {}{}", what, max, hint));
  };
  if (const auto number = ParseNumber<double>(text)) {
    if (*number >= 0 && *number <= max) return *number + 0.0;  // -0 becomes 0
    return refuse("");
  }
  if (std::ranges::count(text, ',') != 1) return std::optional<double>();
  std::string point = text;
  point[point.find(',')] = '.';
  if (!ParseNumber<double>(point)) return std::optional<double>();
  return refuse(fmt::format("; the decimal sign is a point, so write {}", point));
}

}  // namespace kepler::report::command
