#pragma once
// Prints settings as YAML, in --help, and as a list of changed keys.
#include <string>
#include <string_view>
#include <vector>

#include "settings/flags.h"
#include "settings/table.h"

namespace kepler::settings {

/// Returns the value as YAML on one line, quoted if YAML would misread it. The loader reads back the same value.
/// `hide_secrets` replaces secret texts, and the credentials and queries of URLs.
[[nodiscard]] std::string Show(const Key& key, const Field& field, bool hide_secrets = false);

/// Prints every key in the order of the table. The loader reads back the same settings. `hide_secrets` replaces secret
/// texts, and the credentials and queries of URLs. (Passwords are in separate files. The output contains only the paths
/// of these files.)
[[nodiscard]] std::string Print(const Values& values, bool hide_secrets);

/// `about` describes the purpose of the program. `commands` are its flags without a key.
[[nodiscard]] std::string HelpText(std::span<const Key> keys, std::string_view program, std::string_view about,
                                   std::span<const CommandFlag> commands);

/// Returns one value as in the output of Print().
[[nodiscard]] std::string ShowValue(const Values& values, std::string_view path);

/// Returns the paths of the keys with different values, in table order. Both arguments must use that table.
[[nodiscard]] std::vector<std::string_view> ChangedKeys(const Values& before, const Values& after);

}  // namespace kepler::settings
