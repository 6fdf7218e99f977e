#pragma once
// docs/configuration.md.
#include <string>

#include "settings/table.h"

namespace kepler::docs {

/// Of the agent's table. `defaults` are untouched.
[[nodiscard]] std::string ConfigurationPage(const settings::Values& defaults);

}  // namespace kepler::docs
