#pragma once
// "host:port", as addresses to listen on and URLs have it.
#include <string_view>

#include "base/result.h"

namespace kepler {

/// Parts of the text they were split from.
struct HostPort {
  std::string_view host;  // without brackets; may be empty
  std::string_view port;  // may be empty, or no number
  bool bracketed = false;
};

/// At the colon: "h:1", ":1", "[::1]:1". Errors (kInvalid) give only the reason: no port, an open bracket, a bare IPv6
/// address.
[[nodiscard]] Result<HostPort> SplitHostPort(std::string_view text);

}  // namespace kepler
