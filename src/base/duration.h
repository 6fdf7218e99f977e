#pragma once
// Durations in Go's syntax ("500ms", "1m30s", "-2s", "0"; units ns, us, µs, μs, ms, s, m, h), and days of 24 h: "7d".
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler {

using Duration = std::chrono::nanoseconds;

/// An error describes the mistake in the text; the caller adds the place.
[[nodiscard]] Result<Duration> ParseDuration(std::string_view text);

/// Returns the shortest text in whole units, largest first: "2m", "1h30m", "1s500ms", "0s". ParseDuration reads back
/// the same value.
[[nodiscard]] std::string FormatDuration(Duration value);

}  // namespace kepler
