#pragma once
// The survey of `kepler meters`: opens every meter of the configuration, reads it twice, and says which ones the agent
// would use, and why not the others.
#include <vector>

#include "apps/kepler/config.h"
#include "apps/kepler/meter_report.h"
#include "base/clock.h"

namespace kepler::agent {

/// The meters of cpu.preferredMeters and platform.preferredMeters, in that order. Waits for `pause` between the two
/// readings, once more if a meter of the CPUs does not advance, and for meters that answer slowly. Reads the files of
/// the host; needs the rights of the agent.
[[nodiscard]] std::vector<MeterReport> SurveyMeters(const Config& config, const Clock& clock, Nanoseconds pause);

}  // namespace kepler::agent
