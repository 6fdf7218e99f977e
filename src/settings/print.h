#pragma once
// Settings for people: as YAML, in --help, and which have changed.
#include <string>
#include <string_view>
#include <vector>

#include "settings/table.h"

namespace kepler::settings {

/// The value as YAML on one line, quoted where YAML would misread it: the loader gives it back. With `hide_secrets`
/// secret texts and the credentials in URLs are replaced.
[[nodiscard]] std::string Show(const Key& key, const Field& field, bool hide_secrets = false);

/// Every key in the order of the table. Read back, it gives the same settings; with `hide_secrets` secret texts and
/// the credentials in URLs are replaced. (Passwords stand in files of their own, which are named here and not read.)
[[nodiscard]] std::string Print(const Values& values, bool hide_secrets);

/// `about` says what the program does.
[[nodiscard]] std::string HelpText(std::span<const Key> keys, std::string_view program, std::string_view about);

/// One value, as it stands in that.
[[nodiscard]] std::string ShowValue(const Values& values, std::string_view path);

/// The paths of the keys whose values differ, in the order of the table; both are of that table.
[[nodiscard]] std::vector<std::string_view> ChangedKeys(const Values& before, const Values& after);

}  // namespace kepler::settings
