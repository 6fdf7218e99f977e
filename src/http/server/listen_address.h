#pragma once
// "host:port" to a listening socket.
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::http::server {

/// A socket that Listen() has opened, and for which address.
struct OwnAddress {
  std::string address;
  int fd = -1;
};

/// A non-blocking TCP socket in the listening state; no host is every interface, IPv6 and IPv4. Errors name the address
/// and what to do: also the one of `ours` that is in the way, for names are known to be one host only here. May ask a
/// name server where the host is a name.
[[nodiscard]] Result<UniqueFd> Listen(std::string_view address, std::span<const OwnAddress> ours = {});

/// As Listen(), but bound only: other programs may listen there meanwhile. No descriptor where a socket has the port
/// that is none of `ours`.
[[nodiscard]] Result<UniqueFd> CheckAddress(std::string_view address, std::span<const OwnAddress> ours = {});

/// Whether only this machine reaches an address, by how it is written: ::1, 127.0.0.0/8 and localhost; of other names
/// nobody knows.
[[nodiscard]] bool NamesLoopback(std::string_view address);

/// "127.0.0.1:28282", "[::1]:28282"; "" where the descriptor is no bound TCP socket.
[[nodiscard]] std::string LocalAddress(int fd);

}  // namespace kepler::http::server
