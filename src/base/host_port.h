#pragma once
// Splits "host:port" in listen addresses and URLs.
#include <string_view>

#include "base/result.h"

namespace kepler {

/// Views into the text that was split.
struct HostPort {
  std::string_view host;  // without brackets; may be empty
  std::string_view port;  // may be empty; not checked to be a number
  bool bracketed = false;
};

/// Splits at the colon: "h:1", ":1", "[::1]:1". Errors (kInvalid) contain only the reason: no port, an open bracket, or
/// an IPv6 address without brackets.
[[nodiscard]] Result<HostPort> SplitHostPort(std::string_view text);

}  // namespace kepler
