#pragma once
// The names of hwmon attribute files, taken apart. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kepler::energy::hwmon {

enum class ChannelKind : uint8_t { kEnergy, kPower, kVoltage, kCurrent };

/// "energy", "power", "in", "curr": how the kernel spells them.
[[nodiscard]] std::string_view ToString(ChannelKind kind);

/// "power1_average" is (power, 1, "average").
struct SensorFile {
  ChannelKind kind = ChannelKind::kPower;
  int index = 0;
  std::string_view property;  // into the name that was parsed
};

/// Nothing for other attributes ("name", "temp1_input", "power1"). Indices go up to 9999.
[[nodiscard]] std::optional<SensorFile> ParseSensorFile(std::string_view name);

/// The channels of one device: for each kind, index → its properties.
class ChannelTable {
 public:
  explicit ChannelTable(std::span<const std::string> file_names);
  [[nodiscard]] const std::map<int, std::set<std::string>>& Of(ChannelKind kind) const;
  [[nodiscard]] bool Has(ChannelKind kind, int index, std::string_view property) const;

 private:
  std::map<ChannelKind, std::map<int, std::set<std::string>>> channels_;
};

}  // namespace kepler::energy::hwmon
