#pragma once
// "host:port" to a listening socket.
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::http {

struct HostPort {
  std::string host;  // without brackets; "" is every interface, IPv6 and IPv4
  std::string port;
};

[[nodiscard]] Result<HostPort> SplitListenAddress(std::string_view address);

/// A non-blocking TCP socket in the listening state. Errors name the address and what to do. May ask a name server
/// where the host is a name.
[[nodiscard]] Result<UniqueFd> Listen(std::string_view address);

/// "127.0.0.1:28282", "[::1]:28282"; "" where the descriptor is no bound TCP socket.
[[nodiscard]] std::string LocalAddress(int fd);

}  // namespace kepler::http
