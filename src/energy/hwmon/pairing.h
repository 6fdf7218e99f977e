#pragma once
// Which voltage goes with which current, where a chip shows no power of its own. Pure.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "energy/hwmon/chip_rules.h"

namespace kepler::energy::hwmon {

struct Channel {
  int index = 0;
  std::string label;  // cleaned; "" for none
};

/// Pairs of (voltage, current) indices, ascending. The first of these that gives any: equal labels; `rule` (may be
/// null); equal indices. Channels that the rule skips are never used, in none of the three.
[[nodiscard]] std::vector<std::pair<int, int>> PairChannels(std::span<const Channel> voltages,
                                                            std::span<const Channel> currents, const ChipRule* rule);

}  // namespace kepler::energy::hwmon
