#include "energy/hwmon/sensor_name.h"

#include <array>

#include "base/parse.h"

namespace kepler::energy::hwmon {
namespace {

constexpr std::array kKinds = {ChannelKind::kEnergy, ChannelKind::kPower, ChannelKind::kVoltage, ChannelKind::kCurrent};
constexpr int kMaxIndex = 9'999;

}  // namespace

std::string_view ToString(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::kEnergy:
      return "energy";
    case ChannelKind::kPower:
      return "power";
    case ChannelKind::kVoltage:
      return "in";
    case ChannelKind::kCurrent:
      return "curr";
  }
  return "";
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
  for (const std::string& name : file_names) {
    if (const auto file = ParseSensorFile(name)) channels_[file->kind][file->index].insert(std::string(file->property));
  }
}

const std::map<int, std::set<std::string>>& ChannelTable::Of(ChannelKind kind) const {
  static const std::map<int, std::set<std::string>> kNone;
  const auto found = channels_.find(kind);
  return found == channels_.end() ? kNone : found->second;
}

bool ChannelTable::Has(ChannelKind kind, int index, std::string_view property) const {
  const auto& channels = Of(kind);
  const auto found = channels.find(index);
  return found != channels.end() && found->second.contains(std::string(property));
}

}  // namespace kepler::energy::hwmon
