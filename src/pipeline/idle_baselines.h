#pragma once
// The baseline policy: what each zone needs without work is idle, whatever the load. Collection thread only.
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
  /// Of what `zone` used in this tick. Energy without known power is split as before; `busy` while there is no
  /// baseline, as of an estimate of what load adds.
  [[nodiscard]] Ratio ActiveShare(size_t zone, Ratio busy) const { return zones_[zone].active.value_or(busy); }
  /// Replaces `out`.
  void Publish(std::vector<snapshot::IdleBaseline>& out) const;

 private:
  /// What a baseline is of.
  struct Origin {
    uint32_t domains = 0;     // that it is the sum of
    uint32_t generation = 0;  // as DomainReading
    bool operator==(const Origin&) const = default;
  };
  struct ZoneState {
    status::Zone zone;
    Origin origin{};
    attribution::IdleBaselineFit fit{};
    std::optional<Ratio> active{};  // as of the last known power; nothing while there is no baseline
  };
  std::vector<ZoneState> zones_;
};

}  // namespace kepler::pipeline
