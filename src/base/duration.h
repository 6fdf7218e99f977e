#pragma once
// Durations as Go spells them: "500ms", "1m30s", "1.5h", "-2s", "0". Units: ns, us (µs, μs), ms, s, m, h; no days.
#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler {

using Duration = std::chrono::nanoseconds;

/// An error says what is wrong with the text, without repeating where it stood.
[[nodiscard]] Result<Duration> ParseDuration(std::string_view text);

/// The shortest spelling in whole units, largest first: "2m", "1h30m", "1s500ms", "0s". ParseDuration gives it back.
[[nodiscard]] std::string FormatDuration(Duration value);

}  // namespace kepler
