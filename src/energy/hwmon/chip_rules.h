#pragma once
// Rules for chips, from their kernel drivers: the pairs of voltage and current channels of a power monitor, and the
// chips that measure the CPU or its board.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::energy::hwmon {

/// Pairs of channels of one chip. With use_same_index, inN belongs to currN; otherwise `pairings` (in → curr) applies.
/// Skipped channels are never used.
struct ChipRule {
  std::string name;
  std::map<int, int> pairings;
  std::vector<int> skip_voltages;
  std::vector<int> skip_currents;
  bool use_same_index = false;
};

/// Returns the rule for `chip`; null without a rule. A user rule completely replaces the built-in rule of the same
/// chip. Names are compared after CleanName().
[[nodiscard]] const ChipRule* FindRule(std::span<const ChipRule> user_rules, std::string_view chip);

/// Returns true for chips that measure a CPU, its socket or the input of its board: zenpower, SCMI, and power monitors
/// of the families below. Graphics cards, disks, network cards, batteries and power supplies do not count. Neither does
/// the ACPI power meter, which measures the machine, except for the sensors of acpi_meter.h.
[[nodiscard]] bool IsCpuChip(std::string_view chip);
/// The names for IsCpuChip(): complete names, and prefixes of names.
[[nodiscard]] std::span<const std::string_view> CpuChips();
[[nodiscard]] std::span<const std::string_view> CpuChipFamilies();

/// Returns the text in lower case. Characters other than a-z, 0-9, ':' and '_' become '_'. There is no '_' at the ends.
/// At most 64 bytes.
[[nodiscard]] std::string CleanName(std::string_view text);

struct Channel {
  int index = 0;
  std::string label;  // cleaned; "" for none
};

/// Returns pairs of (voltage, current) indices, ascending. Uses the first of these methods that finds a pair: equal
/// labels, `rule` (may be null), equal indices. None of them uses channels that the rule skips.
[[nodiscard]] std::vector<std::pair<int, int>> PairChannels(std::span<const Channel> voltages,
                                                            std::span<const Channel> currents, const ChipRule* rule);

}  // namespace kepler::energy::hwmon
