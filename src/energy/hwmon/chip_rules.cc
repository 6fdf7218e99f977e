#include "energy/hwmon/chip_rules.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace kepler::energy::hwmon {

namespace {

using Indices = std::vector<int>;

ChipRule SameIndex(std::string name, Indices skip_voltages = {}, Indices skip_currents = {}) {
  return {std::move(name), {}, std::move(skip_voltages), std::move(skip_currents), true};
}

ChipRule Pairs(std::string name, std::map<int, int> pairings, Indices skip_voltages = {}, Indices skip_currents = {}) {
  return {std::move(name), std::move(pairings), std::move(skip_voltages), std::move(skip_currents), false};
}

/// Skipped voltages are shunt drops, auxiliary inputs and supply rails of the chip. Skipped currents are sums, and
/// single phases of a current that another channel shows completely.
const std::vector<ChipRule>& BuiltInRules() {
  static const std::vector<ChipRule> kRules = {
      SameIndex("ina3221", {4, 5, 6, 7}),
      Pairs("ina226", {{1, 1}}, {0}),
      Pairs("ina219", {{1, 1}}, {0}),
      Pairs("ina209", {{1, 1}}, {0}),
      Pairs("ina238", {{1, 1}}, {0}),
      Pairs("ina260", {{1, 1}}),
      Pairs("ina233", {{1, 1}}, {2}),
      Pairs("ltc2945", {{1, 1}}, {2}),
      Pairs("ltc4260", {{1, 1}}, {2}),
      Pairs("ltc4261", {{1, 1}}, {2}),
      Pairs("ltc2947", {{0, 1}}),
      Pairs("ltc2992", {{0, 1}, {2, 2}}, {1, 3, 4, 5}),
      Pairs("ltc4282", {{1, 1}}, {2, 3, 4}),
      Pairs("adm1275", {{1, 1}}),
      Pairs("adm1276", {{1, 1}}),
      Pairs("adm1278", {{1, 1}}),
      Pairs("adm1293", {{1, 1}}),
      Pairs("max20730", {{2, 1}}),
      Pairs("max20751", {{2, 1}}),
      SameIndex("max34440", {}, {7, 8}),
      SameIndex("max34451"),
      SameIndex("tps40422"),
      SameIndex("tps53679"),
      SameIndex("tps546d24"),
      SameIndex("ir35221"),
      SameIndex("xdpe12284"),
      Pairs("mp2975", {{1, 1}}, {}, {2, 3, 4, 5, 6, 7, 8}),
      SameIndex("pmbus"),
      SameIndex("ucd9000"),
      SameIndex("ucd90320"),
  };
  return kRules;
}

/// Complete names, as kernel drivers register them.
constexpr std::array<std::string_view, 9> kCpuChips = {
    "zenpower",   "amd_energy", "fam15h_power", "scmi_sensors", "scmi_hwmon", "apm_xgene", "xgene_hwmon", "xgene",
    "ibmpowernv",  // POWER processors
};

/// Families of board power monitors and voltage regulators, by the start of the name.
constexpr std::array<std::string_view, 14> kCpuChipFamilies = {"ina", "ltc", "adm1", "max",   "tps",   "ir3", "xdpe",
                                                               "mp2", "mp5", "ucd9", "pmbus", "lm250", "isl", "raa"};

}  // namespace

std::string CleanName(std::string_view text) {
  constexpr size_t kMaxBytes = 64;
  std::string name = ToLowerAscii(text.substr(0, 2 * kMaxBytes));
  for (char& c : name) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_';
    if (!kept) c = '_';
  }
  const size_t first = name.find_first_not_of('_');
  if (first == std::string::npos) return {};
  name = name.substr(first, kMaxBytes);
  name.erase(name.find_last_not_of('_') + 1);
  return name;
}

const ChipRule* FindRule(std::span<const ChipRule> user_rules, std::string_view chip) {
  for (const auto& rules : {user_rules, std::span(BuiltInRules())})
    for (const ChipRule& rule : rules)
      if (CleanName(rule.name) == chip) return &rule;
  return nullptr;
}

std::span<const std::string_view> CpuChips() { return kCpuChips; }
std::span<const std::string_view> CpuChipFamilies() { return kCpuChipFamilies; }

bool IsCpuChip(std::string_view chip) {
  if (std::ranges::find(kCpuChips, chip) != kCpuChips.end()) return true;
  return std::ranges::any_of(kCpuChipFamilies, [&](std::string_view family) { return chip.starts_with(family); });
}

namespace {

using IndexPairs = std::vector<std::pair<int, int>>;

std::vector<Channel> Without(std::span<const Channel> channels, const std::vector<int>& skipped) {
  std::vector<Channel> kept;
  for (const Channel& channel : channels)
    if (std::ranges::find(skipped, channel.index) == skipped.end()) kept.push_back(channel);
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
  for (const auto& [voltage, current] : table)
    if (Has(voltages, voltage) && Has(currents, current)) pairs.emplace_back(voltage, current);
  return pairs;
}

IndexPairs ByIndex(std::span<const Channel> voltages, std::span<const Channel> currents) {
  IndexPairs pairs;
  for (const Channel& voltage : voltages)
    if (Has(currents, voltage.index)) pairs.emplace_back(voltage.index, voltage.index);
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
