#pragma once
// Checks addresses in settings: listen addresses and addresses of servers.
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "settings/draft.h"

namespace kepler::settings {

/// Accepts "host:port", ":port" or "[ipv6]:port"; ports from 1. The error describes the mistake in the text.
[[nodiscard]] Status CheckListenAddress(const std::string& address);

/// Returns true if two valid listen addresses cannot be used together. They conflict if they have the same host and
/// port, in any spelling, or if one has every host on the other's port. Names are not resolved. Two names of one host
/// pass here, and the server then refuses the second.
[[nodiscard]] bool ListenConflict(std::string_view a, std::string_view b);

/// Rejects a list of listen addresses, the value of `path`, if the list is empty, or if items are invalid or conflict.
void CheckListenAddresses(Draft& draft, std::string_view path, std::span<const std::string> addresses);

/// Accepts an http or https URL with a host, and without credentials, query, fragment or backslash.
[[nodiscard]] Status CheckEndpoint(std::string_view url);

}  // namespace kepler::settings
