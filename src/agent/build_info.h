#pragma once
// What this binary is, as the build recorded it.
#include "base/build_info.h"

namespace kepler::agent {

[[nodiscard]] BuildInfo ThisBuild();

}  // namespace kepler::agent
