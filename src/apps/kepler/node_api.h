#pragma once
// Snapshots of a node that this process measures for exporters, and its JSON API.
#include <memory>

#include "apps/kepler/config.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "export/api/endpoint.h"
#include "export/series/reading.h"
#include "pipeline/collector.h"
#include "snapshot/snapshot.h"

namespace kepler::agent {

/// What exporters get of a snapshot: with whether it is too old now.
[[nodiscard]] series::Reading ReadingOf(std::shared_ptr<const snapshot::Snapshot> snapshot,
                                        const pipeline::Freshness& freshness, const Clock& clock);

/// It shows only what /metrics may show. The caller hands it each snapshot of `collector` (Endpoint::Observe()).
/// `clock`, `collector` and `board` must outlive it.
[[nodiscard]] std::unique_ptr<api::Endpoint> MakeApi(const Config& config, const BuildInfo& build, const Clock& clock,
                                                     pipeline::Collector& collector, const snapshot::Board& board);

}  // namespace kepler::agent
