#pragma once
// Reads the descriptions of a BMC's power sensors from its repository of sensor data records, and chooses the sensor
// that measures the machine.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/platform/ipmi/bmc_link.h"
#include "energy/platform/ipmi/sensor_record.h"

namespace kepler::energy::platform::ipmi {

struct PowerSensors {
  std::vector<PowerSensor> list;      // of the BMC itself, in the order of the repository
  std::vector<std::string> left_out;  // why other power sensors are not in the list
};

/// Reads all records, which takes one to three requests for each: up to some seconds. A malformed record is left out.
/// Errors: as BmcLink::Ask; of a completion code; kUnavailable if the repository changes all the time; kMalformed if it
/// has no end; kTimeout after a minute.
[[nodiscard]] Result<PowerSensors> FindPowerSensors(BmcLink& link);

/// Returns the index of the sensor that measures the whole machine: the first with a name of the total ("System Power",
/// "Total_Power", "Pwr Consumption"), or the only sensor if it measures no part ("CPU Power"). The names are those of
/// the vendors: IPMI has no other mark.
[[nodiscard]] std::optional<size_t> WholeMachine(std::span<const PowerSensor> sensors);

}  // namespace kepler::energy::platform::ipmi
