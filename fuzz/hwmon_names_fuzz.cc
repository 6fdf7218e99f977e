// File names, labels and chip names of an hwmon device: each line of the input is one.
#include <string>
#include <vector>

#include "base/parse.h"
#include "energy/hwmon/chip_rules.h"
#include "energy/hwmon/device.h"
#include "fuzz.h"

namespace hwmon = kepler::energy::hwmon;

void Fuzz(std::string_view text) {
  text = text.substr(0, 4'096);
  std::vector<std::string> files;
  std::vector<hwmon::Channel> channels;
  kepler::Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    const std::string clean = hwmon::CleanName(*line);
    if (clean.size() > 64 || hwmon::CleanName(clean) != clean) std::abort();
    if (const auto file = hwmon::ParseSensorFile(*line)) {
      if (file->index < 0 || file->property.empty()) std::abort();
      channels.push_back({file->index, hwmon::CleanName(file->property)});
    }
    files.emplace_back(*line);
  }
  const hwmon::ChannelTable table(files);
  const hwmon::ChipRule* rule = files.empty() ? nullptr : hwmon::FindRule({}, hwmon::CleanName(files.front()));
  for (const auto& [voltage, current] : hwmon::PairChannels(channels, channels, rule))
    if (voltage < 0 || current < 0) std::abort();
  if (table.Has(hwmon::ChannelKind::kPower, 1, "input") && table.Of(hwmon::ChannelKind::kPower).empty()) std::abort();
}
