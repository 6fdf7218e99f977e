#pragma once
// Resources of the agent itself, for the metrics of the `process` collector.
#include "snapshot/status.h"

namespace kepler::daemon {

/// Reads the agent's own /proc entry; what cannot be read stays 0, or unset where it may be. Any thread.
[[nodiscard]] snapshot::SelfStatus ReadSelfStatus();

}  // namespace kepler::daemon
