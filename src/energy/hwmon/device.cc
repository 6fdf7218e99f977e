#include "energy/hwmon/device.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>

#include "energy/hwmon/acpi_meter.h"
#include "os/dirents.h"

namespace kepler::energy::hwmon {

namespace {

constexpr std::array kKinds = {ChannelKind::kEnergy, ChannelKind::kPower, ChannelKind::kVoltage, ChannelKind::kCurrent};
constexpr int kMaxIndex = 9'999;

}  // namespace

std::string_view ToString(ChannelKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"energy", "power", "in", "curr"};
  return kNames.at(std::to_underlying(kind));
}

std::optional<SensorFile> ParseSensorFile(std::string_view name) {
  for (const ChannelKind kind : kKinds) {
    const std::string_view prefix = ToString(kind);
    if (!name.starts_with(prefix)) continue;
    const size_t line = name.find('_');
    if (line == std::string_view::npos || line + 1 == name.size()) return std::nullopt;
    const auto index = ParseNumber<int>(name.substr(prefix.size(), line - prefix.size()));
    if (!index || *index < 0 || *index > kMaxIndex) continue;
    return SensorFile{kind, *index, name.substr(line + 1)};
  }
  return std::nullopt;
}

ChannelTable::ChannelTable(std::span<const std::string> file_names) {
  for (const std::string& name : file_names)
    if (const auto file = ParseSensorFile(name))
      channels_.at(std::to_underlying(file->kind))[file->index].insert(std::string(file->property));
}

bool ChannelTable::Has(ChannelKind kind, int index, std::string_view property) const {
  const auto& channels = Of(kind);
  const auto found = channels.find(index);
  return found != channels.end() && found->second.contains(std::string(property));
}

namespace {

/// Returns "" if the path cannot be resolved.
std::filesystem::path RealPath(const std::string& path) {
  std::error_code error;
  auto real = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path() : real;
}

std::string ZonePrefix(const std::filesystem::path& device, const std::string& chip, const std::string& directory) {
  const std::string bus = CleanName(device.parent_path().filename().string());
  const std::string name = CleanName(device.filename().string());
  if (!name.empty()) return bus.empty() ? name : bus + "_" + name;
  return chip.empty() ? CleanName(std::filesystem::path(directory).filename().string()) : chip;
}

/// Reads the channels of one device; lives for one FindSensors().
class Scanner {
 public:
  Scanner(const Device& device, const ChannelTable& table, os::ReadBuffer& buffer)
      : device_(device), table_(table), buffer_(buffer) {}

  std::vector<Sensor> Direct(SensorKind sensor_kind, ChannelKind kind, std::span<const std::string_view> values) {
    std::vector<Sensor> sensors;
    for (const auto& [index, properties] : table_.Of(kind)) {
      if (!Enabled(kind, index)) continue;
      for (const std::string_view value : values) {
        if (!table_.Has(kind, index, value)) continue;
        const std::string label = Label(kind, index);
        sensors.push_back(
            {sensor_kind, ZoneName(kind, index, label), Key(kind, index), File(kind, index, value), {}, label});
        break;
      }
    }
    return sensors;
  }

  std::vector<Sensor> Products(const ChipRule* rule) {
    std::vector<Sensor> sensors;
    for (const auto& [in, curr] :
         PairChannels(Candidates(ChannelKind::kVoltage), Candidates(ChannelKind::kCurrent), rule)) {
      const auto value = CommonValue(in, curr);
      if (!value) continue;
      // Same as upstream: label, index and file of the voltage.
      const std::string label = Label(ChannelKind::kVoltage, in);
      sensors.push_back({SensorKind::kProduct, ZoneName(ChannelKind::kPower, in, label),
                         fmt::format("{}*curr{}", Key(ChannelKind::kVoltage, in), curr),
                         File(ChannelKind::kVoltage, in, *value), File(ChannelKind::kCurrent, curr, *value), label});
    }
    return sensors;
  }

 private:
  std::string File(ChannelKind kind, int index, std::string_view property) const {
    return fmt::format("{}/{}{}_{}", device_.attributes, ToString(kind), index, property);
  }

  std::string Key(ChannelKind kind, int index) const {
    return fmt::format("{}/{}{}", device_.identity, ToString(kind), index);
  }

  bool Enabled(ChannelKind kind, int index) {
    if (!table_.Has(kind, index, "enable")) return true;
    const auto text = os::ReadAttribute(File(kind, index, "enable"), buffer_);
    return !text || *text != "0";
  }

  std::string Label(ChannelKind kind, int index) {
    if (device_.chip == kAcpiMeterChip && table_.Has(kind, index, "oem_info"))
      return GraceLabel(Text(kind, index, "oem_info"));
    return table_.Has(kind, index, "label") ? CleanName(Text(kind, index, "label")) : std::string();
  }

  /// "" if it cannot be read.
  std::string Text(ChannelKind kind, int index, std::string_view property) {
    const auto text = os::ReadAttribute(File(kind, index, property), buffer_);
    return text ? std::string(*text) : std::string();
  }

  std::string ZoneName(ChannelKind kind, int index, std::string label) const {
    if (label.empty()) return fmt::format("{}_{}{}", device_.zone_prefix, ToString(kind), index);
    // amd_energy labels each core (Ecore000, Ecore001, …) and each socket (Esocket0). One zone per label would be
    // hundreds.
    if (device_.chip == "amd_energy" && label.starts_with("ecore")) return "core";
    if (device_.chip == "amd_energy" && label.starts_with("esocket")) return "socket";
    return label;
  }

  std::vector<Channel> Candidates(ChannelKind kind) {
    std::vector<Channel> channels;
    for (const auto& [index, properties] : table_.Of(kind)) {
      const bool readable = properties.contains("input") || properties.contains("average");
      if (readable && Enabled(kind, index)) channels.push_back({index, Label(kind, index)});
    }
    return channels;
  }

  /// Uses the average only if both channels have one. The product of a mean and a momentary value has no meaning.
  std::optional<std::string_view> CommonValue(int in, int curr) const {
    for (const std::string_view value : {"average", "input"})
      if (table_.Has(ChannelKind::kVoltage, in, value) && table_.Has(ChannelKind::kCurrent, curr, value)) return value;
    return std::nullopt;
  }

  const Device& device_;
  const ChannelTable& table_;
  os::ReadBuffer& buffer_;
};

}  // namespace

Result<Device> ReadDevice(const std::string& directory, os::ReadBuffer& buffer) {
  Device device;
  device.directory = directory;
  // With the kernel's old registration call, all files (including the name) are in the parent device.
  device.attributes = directory;
  auto name = os::ReadAttribute(directory + "/name", buffer);
  if (!name) {
    auto parent = os::ReadAttribute(directory + "/device/name", buffer);
    if (!parent) return std::unexpected(name.error());
    name = std::move(parent);
    device.attributes = directory + "/device";
  }
  device.chip = CleanName(*name);
  const auto real = RealPath(directory + "/device");
  device.zone_prefix = ZonePrefix(real, device.chip, directory);
  device.identity = fmt::format("{}/{}", real.empty() ? directory : real.string(), device.chip);
  return device;
}

Result<std::vector<Sensor>> FindSensors(const Device& device, const ChipRule* rule, os::ReadBuffer& buffer) {
  KEPLER_TRY(const auto files, os::ListDir(device.attributes));
  const ChannelTable table(files);
  Scanner scanner(device, table, buffer);
  constexpr std::string_view kEnergyValues[] = {"input"};
  constexpr std::string_view kPowerValues[] = {"average", "input"};
  auto sensors = scanner.Direct(SensorKind::kEnergy, ChannelKind::kEnergy, kEnergyValues);
  if (sensors.empty()) sensors = scanner.Direct(SensorKind::kPower, ChannelKind::kPower, kPowerValues);
  if (sensors.empty()) sensors = scanner.Products(rule);
  if (!sensors.empty()) return sensors;
  if (!table.Of(ChannelKind::kCurrent).empty()) {
    return Fail(ErrorKind::kUnavailable,
                "its voltages and currents cannot be paired; add a rule to experimental.hwmon.chipRules");
  }
  return Fail(ErrorKind::kUnavailable, "it has no energy or power sensor");
}

}  // namespace kepler::energy::hwmon
