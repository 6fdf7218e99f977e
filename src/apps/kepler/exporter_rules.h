#pragma once
// Rules of the exporters that push or write a file: their places on the disk, and settings that need each other.
#include "apps/kepler/config.h"
#include "apps/kepler/rules.h"
#include "settings/draft.h"

namespace kepler::agent {

/// Adds an error for each broken rule, and a warning for what may be repaired while the agent runs. Looks at
/// directories and files, and creates nothing; a reload does not look at them.
void CheckExporters(settings::Draft& draft, const Config& config, Moment moment);

}  // namespace kepler::agent
