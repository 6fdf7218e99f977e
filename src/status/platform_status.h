#pragma once
// Status of the meters of the whole machine. Filled by energy/.
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "status/energy_status.h"

namespace kepler::status {

/// The latest figures of one sensor of a platform meter.
struct PlatformReading {
  std::string source;  // name of the meter: "redfish"
  PlatformSensor sensor;
  Energy energy;                        // since the first reading
  Power power;                          // of the latest reading
  bool fresh = false;                   // the power is known
  std::optional<CounterCheck> check{};  // of a sensor with an energy counter of its own
  bool is_counted = false;              // part of kepler_node_platform_joules_total
  Resolution resolution{};              // if the meter states one
};

/// Energy of the machine without its measured CPU zones: platform - (package + dram). Both sides are running totals of
/// the same time. A BMC averages over up to a minute, so its total may lag behind. The energy never decreases; the debt
/// is the part of it that the platform has not shown yet. Between any two readings, energy - debt + package + dram
/// grows as much as the platform's total; the totals themselves begin at different times.
struct OtherEnergy {
  Energy energy;
  Energy debt;
};

}  // namespace kepler::status
