#pragma once
// EstimateSource: energy that a power model estimates instead of a meter. It answers as any EnergySource does; a
// MeterSelector and a MeterSet take it separately, because it moves whatever the machine does and so proves nothing.
// Owned and called by the collection thread only.
#include <array>

#include "base/units.h"
#include "energy/energy_source.h"
#include "status/estimate_status.h"

namespace kepler::energy {

/// What the CPU meter measured of package or dram since the previous sample.
struct MeasuredPart {
  Energy energy;
  bool complete = true;    // nothing is missing that a later reading would catch up
  bool only_load = false;  // as DomainReading
};

using MeasuredParts = std::array<MeasuredPart, 2>;  // package and dram; complete where there is no such meter

class EstimateSource : public EnergySource {
 public:
  [[nodiscard]] Authority authority() const final { return Authority::kEstimated; }
  /// Whether it estimates only the energy that load adds: a guest does not know the idle power of its host. Never
  /// changes. A model may know less than that; each reading has its own only_load.
  [[nodiscard]] virtual bool only_load() const = 0;
  /// The models in use, and the number of predictions.
  [[nodiscard]] virtual const status::EstimateStatus& estimate() const = 0;
  /// Sets a lower limit for the next Read() of a source of kPlatform: the machine used no less than its measured parts
  /// since each was last complete. Called before each Read(). A source of another domain ignores it.
  virtual void UseAtLeast(const MeasuredParts& parts) = 0;
};

}  // namespace kepler::energy
