#pragma once
// `kepler top`: the power and energy of a running agent on the terminal.
#include <vector>

#include "base/build_info.h"

namespace kepler::agent {

/// Runs `kepler top [FLAG]...`; `arguments[1]` is "top". Returns the exit code: 0, or 1 if the command line is wrong or
/// --once got no answer.
[[nodiscard]] int TopCommand(const std::vector<const char*>& arguments, const BuildInfo& build);

}  // namespace kepler::agent
