#pragma once
// Reports on all meters of the configuration: which ones the agent uses, and why not the others. `kepler meters` opens
// and reads them; the landing page of an agent has them from its snapshot.
#include <vector>

#include "apps/kepler/config.h"
#include "apps/kepler/meter_report.h"
#include "base/clock.h"
#include "snapshot/snapshot.h"

namespace kepler::agent {

/// The meters of cpu.preferredMeters and platform.preferredMeters, in that order. Waits for `pause` between the two
/// readings, once more if a meter of the CPUs does not advance, and for meters that answer slowly. Reads the files of
/// the host; needs the rights of the agent.
[[nodiscard]] std::vector<MeterReport> SurveyMeters(const Config& config, const Clock& clock, Nanoseconds pause);

/// The same meters in an agent that runs: what it reads is in `snapshot`. A meter that it has not tried counts as
/// ready. Reads a few files to find out why other meters are missing.
[[nodiscard]] std::vector<MeterReport> ReportMeters(const Config& config, const snapshot::Snapshot& snapshot,
                                                    const Clock& clock);

}  // namespace kepler::agent
