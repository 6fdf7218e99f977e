#pragma once
// Makes the meters of the whole machine from the configuration.
#include <vector>

#include "apps/kepler/config.h"
#include "energy/platform_meters.h"

namespace kepler::agent {

/// The meters of platform.preferredMeters, in that order. A meter starts its thread when the machine turns out to have
/// it.
[[nodiscard]] std::vector<energy::PlatformMeter> MakePlatformMeters(const Config& config);

}  // namespace kepler::agent
