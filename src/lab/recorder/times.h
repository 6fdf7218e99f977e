#pragma once
// Points in time as people give them, and the ranges that a server of time series is asked for. Pure.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::lab::recorder {

/// Unix seconds: "1700000000.5", or RFC 3339: "2026-11-23T18:00:00Z", "2026-11-23T19:00:00.5+01:00". The error says
/// what is wrong with the text.
[[nodiscard]] Result<double> ParseTime(std::string_view text);

/// Points at begin, begin + step, ... up to end.
struct TimeRange {
  double begin = 0, end = 0;
  bool operator==(const TimeRange&) const = default;
};

/// How many those are, at least 1.
[[nodiscard]] size_t CountPoints(const TimeRange& range, double step);

/// `whole` in pieces of at most `points` points. No point is in two pieces.
[[nodiscard]] std::vector<TimeRange> SplitRange(const TimeRange& whole, double step, size_t points);

}  // namespace kepler::lab::recorder
