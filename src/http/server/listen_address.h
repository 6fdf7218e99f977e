#pragma once
// "host:port" to a listening socket.
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::http {

/// A non-blocking TCP socket in the listening state; no host is every interface, IPv6 and IPv4. Errors name the address
/// and what to do. May ask a name server where the host is a name.
[[nodiscard]] Result<UniqueFd> Listen(std::string_view address);

/// "127.0.0.1:28282", "[::1]:28282"; "" where the descriptor is no bound TCP socket.
[[nodiscard]] std::string LocalAddress(int fd);

}  // namespace kepler::http
