#include "energy/hwmon/pairing.h"

#include <algorithm>

namespace kepler::energy::hwmon {
namespace {

using IndexPairs = std::vector<std::pair<int, int>>;

std::vector<Channel> Without(std::span<const Channel> channels, const std::vector<int>& skipped) {
  std::vector<Channel> kept;
  for (const Channel& channel : channels) {
    if (std::ranges::find(skipped, channel.index) == skipped.end()) kept.push_back(channel);
  }
  return kept;
}

IndexPairs ByLabel(std::span<const Channel> voltages, std::span<const Channel> currents) {
  IndexPairs pairs;
  for (const Channel& voltage : voltages) {
    if (voltage.label.empty()) continue;
    const auto current = std::ranges::find(currents, voltage.label, &Channel::label);
    const bool taken = std::ranges::any_of(
        pairs, [&](const auto& p) { return current != currents.end() && p.second == current->index; });
    if (current != currents.end() && !taken) pairs.emplace_back(voltage.index, current->index);
  }
  return pairs;
}

bool Has(std::span<const Channel> channels, int index) {
  return std::ranges::find(channels, index, &Channel::index) != channels.end();
}

IndexPairs ByTable(std::span<const Channel> voltages, std::span<const Channel> currents,
                   const std::map<int, int>& table) {
  IndexPairs pairs;
  for (const auto& [voltage, current] : table) {
    if (Has(voltages, voltage) && Has(currents, current)) pairs.emplace_back(voltage, current);
  }
  return pairs;
}

IndexPairs ByIndex(std::span<const Channel> voltages, std::span<const Channel> currents) {
  IndexPairs pairs;
  for (const Channel& voltage : voltages) {
    if (Has(currents, voltage.index)) pairs.emplace_back(voltage.index, voltage.index);
  }
  return pairs;
}

}  // namespace

IndexPairs PairChannels(std::span<const Channel> voltages, std::span<const Channel> currents, const ChipRule* rule) {
  const ChipRule none;
  const ChipRule& r = rule != nullptr ? *rule : none;
  const auto usable_voltages = Without(voltages, r.skip_voltages);
  const auto usable_currents = Without(currents, r.skip_currents);
  IndexPairs pairs = ByLabel(usable_voltages, usable_currents);
  if (pairs.empty() && !r.use_same_index) pairs = ByTable(usable_voltages, usable_currents, r.pairings);
  if (pairs.empty()) pairs = ByIndex(usable_voltages, usable_currents);
  return pairs;
}

}  // namespace kepler::energy::hwmon
