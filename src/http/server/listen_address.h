#pragma once
// Opens a listening socket for an address such as "host:port".
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::http::server {

/// Errors of Listen() and CheckAddress() begin with it.
inline constexpr std::string_view kListenError = "listen on ";

/// A socket that Listen() has opened, and its address.
struct OwnAddress {
  std::string address;
  int fd = -1;
};

/// Returns a non-blocking TCP socket in the listening state. An empty host means all interfaces, IPv6 and IPv4. Errors
/// name the address and the remedy. If the address is in use by a socket of `ours`, they name its address, too: two
/// names may mean the same host. Resolves a host name, so it may block.
[[nodiscard]] Result<UniqueFd> Listen(std::string_view address, std::span<const OwnAddress> ours = {});

/// As Listen(), but only binds the socket, so other programs may still listen there. Returns no descriptor if a socket
/// that is not in `ours` has the port.
[[nodiscard]] Result<UniqueFd> CheckAddress(std::string_view address, std::span<const OwnAddress> ours = {});

/// Returns true if the text of the address shows that only this machine can reach it: ::1, 127.0.0.0/8 or localhost.
/// Other names are not resolved.
[[nodiscard]] bool NamesLoopback(std::string_view address);

/// Returns "127.0.0.1:28282" or "[::1]:28282"; "" if the descriptor is not a bound TCP socket.
[[nodiscard]] std::string LocalAddress(int fd);

}  // namespace kepler::http::server
