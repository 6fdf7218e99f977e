#include "apps/kepler/node_api.h"

#include <utility>

namespace kepler::agent {

series::Reading ReadingOf(std::shared_ptr<const snapshot::Snapshot> snapshot, const pipeline::Freshness& freshness,
                          const Clock& clock) {
  const bool stale = snapshot && freshness.IsOld(snapshot->taken_boot, clock.Now());
  return {.snapshot = std::move(snapshot), .stale = stale};
}

std::unique_ptr<api::Endpoint> MakeApi(const Config& config, const BuildInfo& build, const Clock& clock,
                                       pipeline::Collector& collector, const snapshot::Board& board) {
  const auto reading = [&clock, freshness = config.freshness](std::shared_ptr<const snapshot::Snapshot> snapshot) {
    return ReadingOf(std::move(snapshot), freshness, clock);
  };
  return std::make_unique<api::Endpoint>(
      api::Source{.version = build.version, .node = config.node_name, .gates = config.metrics_level.bits},
      config.freshness.interval,
      api::Endpoint::Readers{.fresh = [&collector, reading] { return reading(collector.Fresh()); },
                             .latest = [&board, reading] { return reading(board.Latest()); }});
}

}  // namespace kepler::agent
