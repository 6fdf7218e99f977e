#pragma once
// Resources of the agent itself, for the metrics of the `process` collector.
#include "status/agent_status.h"

namespace kepler::daemon {

/// Reads the agent's own /proc entry; what cannot be read stays 0, or unset where it may be. Any thread.
[[nodiscard]] status::SelfStatus ReadSelfStatus();

}  // namespace kepler::daemon
