#pragma once
// The configuration for people: as YAML, and the texts made from the table.
#include <string>

#include "base/build_info.h"
#include "config/config.h"

namespace kepler::config {

/// Every key in the order of the table. Read back, it gives the same configuration; with `hide_secrets` the credentials
/// in URLs are replaced. (Passwords stand in files of their own, which are named here and not read.)
[[nodiscard]] std::string PrintConfig(const Config& config, bool hide_secrets);

[[nodiscard]] std::string HelpText(const std::string& program);
[[nodiscard]] std::string VersionText(const std::string& program, const BuildInfo& build);

/// docs/configuration.md.
[[nodiscard]] std::string ConfigurationMarkdown();

}  // namespace kepler::config
