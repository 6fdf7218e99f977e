#pragma once
// What the `process` collector shows: the agent's own resources.
#include "export/prometheus/self_stats.h"

namespace kepler::agent {

/// Reads the agent's own /proc entry; what cannot be read stays 0, or unset where it may be. Any thread.
[[nodiscard]] prometheus::SelfStats ReadSelfStats();

}  // namespace kepler::agent
