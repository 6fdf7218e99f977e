#include "config/chip_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"
#include "config/values.h"
#include "config/yaml_scalar.h"

namespace kepler::config {
namespace {

using Kind = yaml::Value::Kind;

constexpr std::array kRuleKeys = {
    ChipRuleKey{"name", "text", "Name of the chip, as in its name file; required"},
    ChipRuleKey{"pairings", "block of whole numbers", "Index of a voltage: index of the current that goes with it"},
    ChipRuleKey{"skipVoltages", "list of whole numbers", "Voltages to leave out"},
    ChipRuleKey{"skipCurrents", "list of whole numbers", "Currents to leave out"},
    ChipRuleKey{"useSameIndex", "boolean", "Pair every other voltage with the current of the same index"},
};

/// Reads one rule; `path` is "experimental.hwmon.chipRules[0]".
class RuleReader {
 public:
  RuleReader(Draft& draft, std::string path) : draft_(draft), path_(std::move(path)) {}

  ChipRule Read(const yaml::Value& node) {
    ChipRule rule;
    if (node.kind != Kind::kMap) {
      draft_.RejectLine(node.line, path_, "must be a block of keys");
      return rule;
    }
    for (size_t i = 0; i < node.keys.size(); ++i) ReadKey(rule, node.keys[i], node.items[i]);
    if (std::ranges::find(node.keys, "name", &yaml::Key::text) == node.keys.end())
      draft_.RejectLine(node.line, path_ + ".name", "is required");
    return rule;
  }

 private:
  void ReadKey(ChipRule& rule, const yaml::Key& key, const yaml::Value& value) {
    if (key.text == "name")
      ReadName(rule.name, key, value);
    else if (key.text == "pairings")
      ReadPairings(rule.pairings, key, value);
    else if (key.text == "skipVoltages")
      ReadIndexes(rule.skip_voltages, key, value);
    else if (key.text == "skipCurrents")
      ReadIndexes(rule.skip_currents, key, value);
    else if (key.text == "useSameIndex")
      ReadBool(rule.use_same_index, key, value);
    else
      Unknown(key);
  }

  void ReadName(std::string& name, const yaml::Key& key, const yaml::Value& value) {
    if (value.kind == Kind::kScalar) name = Trim(value.text);
    if (name.empty()) Reject(key, "must be a text");
  }

  void ReadBool(bool& flag, const yaml::Key& key, const yaml::Value& value) {
    if (value.kind == Kind::kNull) return;
    if (value.kind == Kind::kScalar) {
      if (const auto parsed = ParseYamlBool(value)) {
        flag = *parsed;
        return;
      }
    }
    Reject(key, "must be true or false");
  }

  void ReadPairings(std::map<int, int>& pairings, const yaml::Key& key, const yaml::Value& value) {
    if (value.kind == Kind::kNull) return;
    if (value.kind != Kind::kMap) return Reject(key, "must be a block of whole numbers, voltage: current");
    for (size_t i = 0; i < value.keys.size(); ++i) {
      const auto voltage = Index(value.keys[i].text);
      const auto current = value.items[i].kind == Kind::kScalar ? Index(value.items[i].text) : std::nullopt;
      if (voltage && current)
        pairings[*voltage] = *current;
      else
        RejectIndex(value.keys[i].line, key);
    }
  }

  void ReadIndexes(std::vector<int>& indexes, const yaml::Key& key, const yaml::Value& value) {
    if (value.kind == Kind::kNull) return;
    if (value.kind != Kind::kList) return Reject(key, "must be a list of whole numbers");
    for (const yaml::Value& item : value.items) {
      const auto index = item.kind == Kind::kScalar ? Index(item.text) : std::nullopt;
      if (index)
        indexes.push_back(*index);
      else
        RejectIndex(item.line, key);
    }
  }

  static std::optional<int> Index(std::string_view text) {
    const auto index = ParseYamlWhole(text);
    if (!index || *index < 0 || *index > kMaxSensorIndex) return std::nullopt;
    return static_cast<int>(*index);
  }

  void RejectIndex(int line, const yaml::Key& key) {
    draft_.RejectLine(line, path_ + "." + key.text,
                      fmt::format("a sensor's index is a whole number from 0 to {}", kMaxSensorIndex));
  }
  void Reject(const yaml::Key& key, std::string_view reason) {
    draft_.RejectLine(key.line, path_ + "." + key.text, reason);
  }
  void Unknown(const yaml::Key& key) {
    std::array<std::string_view, kRuleKeys.size()> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = kRuleKeys[i].name;
    const std::string_view nearest = NearestName(key.text, names);
    draft_.Unknown(key.line, path_ + "." + key.text, nearest.empty() ? "" : path_ + "." + std::string(nearest));
  }

  Draft& draft_;
  std::string path_;
};

}  // namespace

std::span<const ChipRuleKey> ChipRuleKeys() { return kRuleKeys; }

void LoadChipRules(Draft& draft, const yaml::Value& list, int line) {
  const size_t key = KeyIndex("experimental.hwmon.chipRules");
  draft.origin(key) = {.from = From::kFile, .line = line, .item_lines = {}, .flag = {}};
  ChipRules& rules = draft.config.experimental.hwmon.chip_rules;
  rules.clear();
  if (list.kind == Kind::kNull) return;
  if (list.kind != Kind::kList) return draft.Reject(key, "must be a list of blocks");
  for (size_t i = 0; i < list.items.size(); ++i)
    rules.push_back(RuleReader(draft, fmt::format("{}[{}]", Keys()[key].path, i)).Read(list.items[i]));
}

std::string ShowChipRule(const ChipRule& rule) {
  std::string pairings;
  for (const auto& [voltage, current] : rule.pairings)
    pairings += fmt::format("{}{}: {}", pairings.empty() ? "" : ", ", voltage, current);
  return fmt::format("{{name: {}, pairings: {{{}}}, skipVoltages: [{}], skipCurrents: [{}], useSameIndex: {}}}",
                     ShowText(rule.name), pairings, fmt::join(rule.skip_voltages, ", "),
                     fmt::join(rule.skip_currents, ", "), rule.use_same_index);
}

}  // namespace kepler::config
