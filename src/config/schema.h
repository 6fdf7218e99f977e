#pragma once
// The one table of the configuration: every key with its flag, meaning and bounds. Loading, flags, checks, --help,
// --config.print, docs/configuration.md and the options of deploy/kepler.8 are all made from it. Defaults stand in
// config.h only.
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

namespace kepler::config {

using Strings = std::vector<std::string>;
using ChipRules = std::vector<ChipRule>;
/// Where a key's value lives; the alternative is the key's type. uint32_t is a set of MetricsLevel.
using Field = std::variant<bool*, int64_t*, double*, Duration*, std::string*, Strings*, uint32_t*, ChipRules*>;

struct Key {
  std::string_view path;                           // "monitor.interval"
  std::string_view flag = {};                      // without "--"; empty: no flag
  std::string_view alias = {};                     // a second spelling of the flag
  std::string_view help;                           // one line, no full stop
  std::string_view missing = {};                   // read and checked, but not acted on; what is so instead
  std::string_view unit = {};                      // of a number: "joules"
  bool is_path = false;                            // of a text: the name of a file or directory
  std::span<const std::string_view> choices = {};  // of a text, or of each item of a list; empty: anything
  // Of a number in its own unit, of a duration in nanoseconds.
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  int64_t least_above_zero = 0;  // where 0 has a meaning of its own
  Field (*field)(Config&);
};

/// In the order of printing: keys of one block stand together.
[[nodiscard]] std::span<const Key> Keys();
/// The place of `path` in Keys(); every path of the table is known, another is a mistake of the caller.
[[nodiscard]] size_t KeyIndex(std::string_view path);

/// `help`, and that the key does nothing yet where that is so; for people.
[[nodiscard]] std::string Meaning(const Key& key);
/// What `config` switches on and this version does not have, each as "KEY: what is so instead".
[[nodiscard]] std::vector<std::string> MissingFeatures(const Config& config);
/// The paths of the keys whose values differ, in the order of the table.
[[nodiscard]] std::vector<std::string_view> ChangedKeys(const Config& before, const Config& after);

struct Level {
  std::string_view name;
  MetricsLevel bit;
};
[[nodiscard]] std::span<const Level> Levels();

/// "duration", "list of text", ...; for people.
[[nodiscard]] std::string_view TypeName(const Key& key);
[[nodiscard]] bool IsBool(const Key& key);
[[nodiscard]] bool IsList(const Key& key);

}  // namespace kepler::config
