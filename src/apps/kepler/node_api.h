#pragma once
// The JSON API of a node that this process measures.
#include <memory>

#include "apps/kepler/config.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "export/api/endpoint.h"
#include "pipeline/collector.h"
#include "snapshot/snapshot.h"

namespace kepler::agent {

/// It shows only what /metrics may show. The caller hands it each snapshot of `collector` (Endpoint::Observe()).
/// `clock`, `collector` and `board` must outlive it.
[[nodiscard]] std::unique_ptr<api::Endpoint> MakeApi(const Config& config, const BuildInfo& build, const Clock& clock,
                                                     pipeline::Collector& collector, const snapshot::Board& board);

}  // namespace kepler::agent
