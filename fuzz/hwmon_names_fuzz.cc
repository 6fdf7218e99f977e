// File names, labels and chip names of an hwmon device: each line of the input is one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "energy/hwmon/chip_rules.h"
#include "energy/hwmon/device.h"

namespace hwmon = kepler::energy::hwmon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), std::min<size_t>(size, 4'096));
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
  return 0;
}
