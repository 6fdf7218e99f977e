#pragma once
// `kepler report`: energy, cost and carbon of a period, from files of JSON lines.
#include <vector>

#include "base/build_info.h"

namespace kepler::report::command {

/// Runs `kepler report [FLAG]... FILE...`; `arguments[1]` is "report". Returns the exit code: 0; 1 with a line on
/// stderr if there is no report; 2 for invalid flags.
[[nodiscard]] int RunReportCommand(std::vector<const char*> arguments, const BuildInfo& build);

}  // namespace kepler::report::command
