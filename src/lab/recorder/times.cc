#include "lab/recorder/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/parse.h"

namespace kepler::lab::recorder {
namespace {

/// The year 9999.
constexpr double kMaxSeconds = 253'402'300'799;

/// Cuts `digits` digits and what must stand behind them off `rest`.
std::optional<int> TakeNumber(std::string_view& rest, size_t digits, std::string_view behind) {
  if (rest.size() < digits || !std::ranges::all_of(rest.substr(0, digits), IsDigit)) return std::nullopt;
  const auto number = ParseNumber<int>(rest.substr(0, digits));
  rest.remove_prefix(digits);
  if (!rest.starts_with(behind)) return std::nullopt;
  rest.remove_prefix(behind.size());
  return number;
}

/// "", ".5" off the front of `rest`.
std::optional<double> TakeFraction(std::string_view& rest) {
  if (!rest.starts_with('.')) return 0;
  const size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
  const auto fraction = ParseNumber<double>(rest.substr(0, end));
  rest.remove_prefix(end);
  return fraction;
}

/// "Z", "+01:00": seconds east of Greenwich.
std::optional<int> OffsetOf(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (!text.starts_with('+') && !text.starts_with('-')) return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hours = TakeNumber(text, 2, ":");
  const auto minutes = hours ? TakeNumber(text, 2, "") : std::nullopt;
  if (!minutes || !text.empty() || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

std::optional<double> ReadRfc3339(std::string_view rest) {
  const auto year = TakeNumber(rest, 4, "-");
  const auto month = year ? TakeNumber(rest, 2, "-") : std::nullopt;
  const auto day = month ? TakeNumber(rest, 2, "") : std::nullopt;
  if (!day || rest.empty() || (rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ')) return std::nullopt;
  rest.remove_prefix(1);
  const auto hour = TakeNumber(rest, 2, ":");
  const auto minute = hour ? TakeNumber(rest, 2, ":") : std::nullopt;
  const auto second = minute ? TakeNumber(rest, 2, "") : std::nullopt;
  const auto fraction = second ? TakeFraction(rest) : std::nullopt;
  const auto offset = fraction ? OffsetOf(rest) : std::nullopt;
  if (!offset || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return static_cast<double>(days) * 86'400 + *hour * 3600 + *minute * 60 + *second + *fraction - *offset;
}

}  // namespace

Result<double> ParseTime(std::string_view text) {
  auto time = ParseNumber<double>(text);
  if (!time) time = ReadRfc3339(text);
  if (!time || !(*time >= 0 && *time <= kMaxSeconds))
    return Fail(ErrorKind::kInvalid, "must be Unix seconds, or a time like 2026-11-23T18:00:00Z");
  return *time;
}

size_t CountPoints(const TimeRange& range, double step) {
  return static_cast<size_t>(std::floor((range.end - range.begin) / step + 1e-6)) + 1;
}

std::vector<TimeRange> SplitRange(const TimeRange& whole, double step, size_t points) {
  const size_t count = CountPoints(whole, step);
  std::vector<TimeRange> pieces;
  for (size_t i = 0; i < count; i += points) {
    const size_t last = std::min(i + points, count) - 1;
    pieces.push_back(
        {.begin = whole.begin + static_cast<double>(i) * step, .end = whole.begin + static_cast<double>(last) * step});
  }
  return pieces;
}

}  // namespace kepler::lab::recorder
