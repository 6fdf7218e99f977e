#pragma once
// Which voltage channel belongs to which current channel of a power monitor chip, and which chips stand for the CPU or
// its board at all. Facts of the chips' kernel drivers.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::energy::hwmon {

/// How to pair the channels of one chip. With use_same_index inN belongs to currN; else `pairings` (in → curr) says it.
/// Skipped channels are never used, whichever way pairs are found.
struct ChipRule {
  std::string name;
  std::map<int, int> pairings;
  std::vector<int> skip_voltages;
  std::vector<int> skip_currents;
  bool use_same_index = false;
};

/// The rule of `chip`: of `user_rules` first (it replaces a built-in one whole), then of the built-in table; null for
/// none. Names are compared as CleanName() makes them.
[[nodiscard]] const ChipRule* FindRule(std::span<const ChipRule> user_rules, std::string_view chip);

/// True for chips that measure a CPU, its socket or its board's input: the ACPI power meter, zenpower, SCMI and the
/// power monitors of the rule table's families. Not: graphics cards, disks, network cards, batteries, power supplies.
[[nodiscard]] bool IsCpuChip(std::string_view chip);
/// The names that IsCpuChip() goes by: whole ones, and starts of names.
[[nodiscard]] std::span<const std::string_view> CpuChips();
[[nodiscard]] std::span<const std::string_view> CpuChipFamilies();

/// Lower case; what is not a-z, 0-9, ':' or '_' becomes '_'; no '_' at the ends. At most 64 bytes.
[[nodiscard]] std::string CleanName(std::string_view text);

struct Channel {
  int index = 0;
  std::string label;  // cleaned; "" for none
};

/// Pairs of (voltage, current) indices, ascending. The first of these that gives any: equal labels; `rule` (may be
/// null); equal indices. Channels that the rule skips are never used, in none of the three.
[[nodiscard]] std::vector<std::pair<int, int>> PairChannels(std::span<const Channel> voltages,
                                                            std::span<const Channel> currents, const ChipRule* rule);

}  // namespace kepler::energy::hwmon
