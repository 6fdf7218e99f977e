#pragma once
// Values of the flags of `kepler report`. Errors are the reason without the name of the flag. Pure.
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "report/energy_line.h"

namespace kepler::report::command {

/// A time such as 2026-11-01T00:00:00Z, Unix seconds, or a duration before `now`. Nothing if the text is empty.
[[nodiscard]] Result<std::optional<report::Milliseconds>> ReadPeriodEnd(const std::string& text, WallTime now);
/// A number from 0 to `max`. Nothing if the text is not a number. An error if the number is out of range or has a
/// decimal comma. `what`: "a number", for the error.
[[nodiscard]] Result<std::optional<double>> ReadAmount(const std::string& text, double max, std::string_view what);

}  // namespace kepler::report::command
