#pragma once
// experimental.hwmon.chipRules: the one list whose items are blocks.
#include <string>

#include "config/config.h"
#include "config/draft.h"
#include "yaml/value.h"

namespace kepler::config {

inline constexpr int kMaxSensorIndex = 1024;

/// Replaces the draft's rules by `list`; what is wrong goes to the draft's errors.
void LoadChipRules(Draft& draft, const yaml::Value& list, int line);

/// As a YAML flow map.
[[nodiscard]] std::string ShowChipRule(const ChipRule& rule);

struct ChipRuleKey {
  std::string_view name;
  std::string_view type;
  std::string_view help;
};
[[nodiscard]] std::span<const ChipRuleKey> ChipRuleKeys();

}  // namespace kepler::config
