#include "base/parse_time.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "base/parse.h"

namespace kepler {
namespace {

/// The year 9999.
constexpr double kMaxSeconds = 253'402'300'799;

/// Each 0 in `shape` stands for a digit.
bool HasShape(std::string_view text, std::string_view shape) {
  return std::ranges::equal(text, shape, [](char c, char s) { return s == '0' ? IsDigit(c) : c == s; });
}

/// "", ".5".
std::optional<double> FractionOf(std::string_view text) {
  if (text.empty()) return 0;
  const bool is_fraction = text[0] == '.' && std::ranges::all_of(text.substr(1), IsDigit);
  return is_fraction ? ParseNumber<double>(text) : std::nullopt;
}

std::optional<double> ReadRfc3339(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  std::string point(text.substr(0, kShape.size()));
  const size_t zone = std::min(text.find_first_of("Zz+-", kShape.size()), text.size());
  if (zone == text.size()) return std::nullopt;
  if (point[10] == 't' || point[10] == ' ') point[10] = 'T';
  const auto fraction = FractionOf(text.substr(point.size(), zone - point.size()));
  const std::string_view offset = text.substr(zone + 1);
  const bool is_utc = text[zone] == 'Z' || text[zone] == 'z';
  if (!HasShape(point, kShape) || !fraction || !HasShape(offset, is_utc ? "" : "00:00")) return std::nullopt;
  const auto number = [](std::string_view from, size_t at, size_t digits) {
    return *ParseNumber<unsigned>(from.substr(at, digits));
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(number(point, 0, 4))),
                                         std::chrono::month(number(point, 5, 2)),
                                         std::chrono::day(number(point, 8, 2))};
  const unsigned hour = number(point, 11, 2), minute = number(point, 14, 2), second = number(point, 17, 2);
  const unsigned hours_off = is_utc ? 0 : number(offset, 0, 2), minutes_off = is_utc ? 0 : number(offset, 3, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 60 || hours_off > 23 || minutes_off > 59) return std::nullopt;
  const double east = (text[zone] == '-' ? -1.0 : 1.0) * (hours_off * 3600 + minutes_off * 60);
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86'400 + (hour * 3600 + minute * 60 + second) + *fraction - east;
}

}  // namespace

Result<double> ParseTime(std::string_view text) {
  auto time = ParseNumber<double>(text);
  if (!time) time = ReadRfc3339(text);
  if (!time || !(*time >= 0 && *time <= kMaxSeconds))
    return Fail(ErrorKind::kInvalid, "must be Unix seconds, or a time like 2026-11-23T18:00:00Z");
  return *time;
}

}  // namespace kepler
