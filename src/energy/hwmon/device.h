#pragma once
// One device under <sysfs>/class/hwmon: where its attributes are, what it is called and which sensors it has.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "energy/hwmon/chip_rules.h"
#include "energy/hwmon/sensor_name.h"
#include "os/file.h"

namespace kepler::energy::hwmon {

enum class SensorKind : uint8_t {
  kEnergy,  // cumulative µJ
  kPower,   // µW
  kProduct  // mV × mA = µW
};

struct Sensor {
  SensorKind kind = SensorKind::kPower;
  std::string zone;
  std::string key;      // the physical device and the channel: two chips never share one
  std::string path;     // the value (of kProduct: the voltage)
  std::string current;  // kProduct only
};

struct Device {
  std::string directory;    // <sysfs>/class/hwmon/hwmon0
  std::string attributes;   // where the sensors are: `directory`, or its device/ (the ACPI power meter)
  std::string chip;         // cleaned content of `name`: rules and the allow-list go by it
  std::string zone_prefix;  // zone names without a label start with it: "<bus>_<device>", else chip, else directory
  std::string identity;     // stays the same when hwmonN is numbered anew
};

/// Errors: as FailErrno, if the directory has no name that can be read.
[[nodiscard]] Result<Device> ReadDevice(const std::string& directory, os::ReadBuffer& buffer);

/// The sensors of the first kind of which the device has any: energy, then power, then voltage × current. Disabled
/// channels (<channel>_enable is 0) are left out. Fails with kUnavailable if there are none, saying why.
[[nodiscard]] Result<std::vector<Sensor>> FindSensors(const Device& device, const ChipRule* rule,
                                                      os::ReadBuffer& buffer);

}  // namespace kepler::energy::hwmon
