#pragma once
// Addresses in settings: those to listen on, and those of others.
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "settings/draft.h"

namespace kepler::settings {

/// "host:port", ":port" or "[ipv6]:port"; ports from 1. The error says what is wrong with the text.
[[nodiscard]] Status CheckListenAddress(const std::string& address);

/// True where a socket that listens on one of two valid addresses keeps the other from it: the same host and port,
/// however written, or every host on the other's port. Names are not resolved: two for one host pass, and the server
/// refuses the second.
[[nodiscard]] bool ListenConflict(std::string_view a, std::string_view b);

/// Rejects a list of addresses to listen on, the value of `path`, that is empty, or whose items are none or conflict.
void CheckListenAddresses(Draft& draft, std::string_view path, std::span<const std::string> addresses);

/// An http or https URL with a host, and without credentials, query, fragment or backslash.
[[nodiscard]] Status CheckEndpoint(std::string_view url);

}  // namespace kepler::settings
