#include "pipeline/idle_baselines.h"

#include <algorithm>
#include <utility>

namespace kepler::pipeline {

void IdleBaselines::SetZones(std::span<const status::Zone> zones) {
  std::vector<ZoneState> next;
  for (const status::Zone& zone : zones) {
    const auto known = std::ranges::find(zones_, zone, &ZoneState::zone);
    next.push_back(known == zones_.end() ? ZoneState{.zone = zone} : *known);
  }
  zones_ = std::move(next);
}

void IdleBaselines::Learn(std::span<const energy::ZoneDelta> zones, std::optional<Ratio> busy, Nanoseconds elapsed) {
  for (size_t z = 0; z < zones.size(); ++z) {
    const energy::ZoneDelta& delta = zones[z];
    ZoneState& state = zones_[z];
    // Estimates of dynamic power have no idle power to learn.
    if (delta.only_load) {
      state.fit = {};
      state.active.reset();
      continue;
    }
    // If a socket is switched off or on, or the model changes, the baseline is no longer valid.
    const Origin origin{.domains = delta.domains.read, .generation = delta.generation};
    if (delta.fresh && std::exchange(state.origin, origin) != origin) {
      state.fit = {};
      state.active.reset();
    }
    if (delta.fresh && busy)
      state.fit.Learn(delta.unchanged ? std::nullopt : std::optional(delta.power), *busy, elapsed);
    else
      state.fit.Skip(elapsed);
    const snapshot::IdleBaseline& known = state.fit.latest();
    if (delta.fresh && known.confidence != snapshot::Confidence::kLearning)
      state.active = attribution::ShareAbove(known.power, delta.power);
  }
}

void IdleBaselines::Publish(std::vector<snapshot::IdleBaseline>& out) const {
  out.clear();
  for (const ZoneState& state : zones_) out.push_back(state.fit.latest());
}

}  // namespace kepler::pipeline
