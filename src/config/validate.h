#pragma once
// The rules that a configuration must keep, checked once everything is merged.
#include <string>

#include "base/result.h"
#include "config/draft.h"

namespace kepler::config {

/// Removes spaces around every text and list item.
void TrimTexts(Draft& draft);

/// Puts every broken rule on the draft's errors. Looks at the files and directories that the configuration names.
void Validate(Draft& draft);

/// What a valid configuration leaves open: zero durations that stand for the default, deprecated keys (with a warning),
/// counters that the weights need, and the node's names. `hostname` may be empty.
void Complete(Draft& draft, const std::string& hostname);

/// "host:port", ":port" or "[ipv6]:port"; ports from 1. The error says what is wrong with the text.
[[nodiscard]] Status CheckListenAddress(const std::string& address);
/// An http or https URL with a host, and without credentials, query, fragment or backslash.
[[nodiscard]] Status CheckEndpoint(std::string_view url);

}  // namespace kepler::config
