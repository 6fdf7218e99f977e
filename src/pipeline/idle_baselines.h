#pragma once
// IdleBaselines: the baseline policy. The learned idle power of a zone is idle at any load. Collection thread only.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attribution/idle_baseline.h"
#include "base/units.h"
#include "energy/meter.h"
#include "snapshot/snapshot.h"

namespace kepler::pipeline {

class IdleBaselines {
 public:
  /// Zones that were there before keep their learnt baseline.
  void SetZones(std::span<const status::Zone> zones);
  /// Once per tick. `zones` in the order of SetZones(); `busy`: in the time `elapsed` since the tick before, nothing
  /// where that is not known.
  void Learn(std::span<const energy::ZoneDelta> zones, std::optional<Ratio> busy, Nanoseconds elapsed);
  /// Returns the active share of the energy of `zone` in this tick. Energy with unknown power has the previous share.
  /// Without a baseline the share is `busy`; estimates of dynamic power never have a baseline.
  [[nodiscard]] Ratio ActiveShare(size_t zone, Ratio busy) const { return zones_[zone].active.value_or(busy); }
  /// Replaces `out`.
  void Publish(std::vector<snapshot::IdleBaseline>& out) const;

 private:
  /// A baseline is valid only for this origin.
  struct Origin {
    uint32_t domains = 0;     // number of domains in the sum
    uint32_t generation = 0;  // as DomainReading
    bool operator==(const Origin&) const = default;
  };
  struct ZoneState {
    status::Zone zone;
    Origin origin{};
    attribution::IdleBaselineFit fit{};
    std::optional<Ratio> active{};  // at the last known power; empty without a baseline
  };
  std::vector<ZoneState> zones_;
};

}  // namespace kepler::pipeline
