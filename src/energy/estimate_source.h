#pragma once
// EstimateSource: estimates energy with a power model instead of a meter. MeterSelector and MeterSet handle estimates
// separately from other sources: an estimate always increases, so it does not prove that a meter is dead. Owned and
// called by the collection thread only.
#include <array>

#include "base/units.h"
#include "energy/energy_source.h"
#include "status/estimate_status.h"

namespace kepler::energy {

/// Energy that the CPU meter measured for package or dram since the previous sample.
struct MeasuredPart {
  Energy energy;
  bool complete = true;    // no later reading will add energy of this interval
  bool only_load = false;  // as DomainReading
};

using MeasuredParts = std::array<MeasuredPart, 2>;  // package and dram; complete if there is no such meter

class EstimateSource : public EnergySource {
 public:
  [[nodiscard]] Authority authority() const final { return Authority::kEstimated; }
  /// Returns true if the source estimates dynamic power only, because a guest does not know the idle power of its host.
  /// Never changes. If false, a model may still lack idle power, so each reading has its own only_load.
  [[nodiscard]] virtual bool only_load() const = 0;
  /// The models in use, and the number of predictions.
  [[nodiscard]] virtual const status::EstimateStatus& estimate() const = 0;
  /// Sets a lower limit for the next Read() of a source of kPlatform: the machine used no less than its measured parts
  /// since each was last complete. Called before each Read(). A source of another domain ignores it.
  virtual void UseAtLeast(const MeasuredParts& parts) = 0;
};

}  // namespace kepler::energy
