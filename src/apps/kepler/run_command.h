#pragma once
// `kepler run`: runs a command and reports the energy that it used.
#include <vector>

#include "base/build_info.h"

namespace kepler::agent {

/// Runs `kepler run [--json] [--output=FILE] [FLAG]... -- COMMAND [ARGUMENT]...`; `arguments[1]` is "run". Returns the
/// exit code of the command; 125 if the command could not be measured, 126 if it cannot be executed, 127 if it does not
/// exist, as env(1) and nice(1).
[[nodiscard]] int RunCommand(std::vector<const char*> arguments, const BuildInfo& build);

}  // namespace kepler::agent
