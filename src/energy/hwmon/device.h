#pragma once
// One device under <sysfs>/class/hwmon: the path of its attributes, its name and its sensors.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "energy/hwmon/chip_rules.h"
#include "os/file.h"

namespace kepler::energy::hwmon {

enum class ChannelKind : uint8_t { kEnergy, kPower, kVoltage, kCurrent };

/// Returns the kernel's name: "energy", "power", "in", "curr".
[[nodiscard]] std::string_view ToString(ChannelKind kind);

/// "power1_average" is (power, 1, "average").
struct SensorFile {
  ChannelKind kind = ChannelKind::kPower;
  int index = 0;
  std::string_view property;  // view into the parsed name
};

/// Returns nothing for other attributes ("name", "temp1_input", "power1"). The maximum index is 9999.
[[nodiscard]] std::optional<SensorFile> ParseSensorFile(std::string_view name);

/// The channels of one device: for each kind, a map from index to properties.
class ChannelTable {
 public:
  explicit ChannelTable(std::span<const std::string> file_names);
  [[nodiscard]] const std::map<int, std::set<std::string>>& Of(ChannelKind kind) const {
    return channels_.at(std::to_underlying(kind));
  }
  [[nodiscard]] bool Has(ChannelKind kind, int index, std::string_view property) const;

 private:
  std::array<std::map<int, std::set<std::string>>, 4> channels_;  // by kind
};

enum class SensorKind : uint8_t {
  kEnergy,  // cumulative µJ
  kPower,   // µW
  kProduct  // mV × mA = µW
};

struct Sensor {
  SensorKind kind = SensorKind::kPower;
  std::string zone;     // the label, or a name made from the device and the channel
  std::string key;      // physical device and channel; unique
  std::string path;     // file of the value; for kProduct: of the voltage
  std::string current;  // file of the current; only for kProduct
  std::string label;    // cleaned; "" for none
};

struct Device {
  std::string directory;    // <sysfs>/class/hwmon/hwmon0
  std::string attributes;   // directory of the sensors: `directory`, or its device/ (the ACPI power meter)
  std::string chip;         // cleaned content of `name`, used by rules and by the list of allowed chips
  std::string zone_prefix;  // for zones without a label: "<bus>_<device>", otherwise the chip or the directory
  std::string identity;     // independent of the number in hwmonN
};

/// Errors: as FailErrno, if the directory has no readable name.
[[nodiscard]] Result<Device> ReadDevice(const std::string& directory, os::ReadBuffer& buffer);

/// Returns the sensors of the first kind that the device has: energy, then power, then voltage × current. Disabled
/// channels (<channel>_enable is 0) are left out. Fails with kUnavailable if there are none, saying why.
[[nodiscard]] Result<std::vector<Sensor>> FindSensors(const Device& device, const ChipRule* rule,
                                                      os::ReadBuffer& buffer);

}  // namespace kepler::energy::hwmon
