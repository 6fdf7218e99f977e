#pragma once
// Who a client is where clients share something fairly: its IPv4 address, or the /64 of its IPv6 address, since whoever
// has one address there has 2^64 of them. Many may hide behind one (NAT).
#include <sys/socket.h>

#include <array>
#include <compare>
#include <string>

namespace kepler::http::server {

struct ClientAddress {
  std::array<unsigned char, 8> prefix{};  // network order; of IPv4 the first four
  bool v6 = false;
  auto operator<=>(const ClientAddress&) const = default;
};

/// An IPv4 client of an IPv6 socket is one of IPv4. Other families, and an address that is cut, are all one client.
[[nodiscard]] ClientAddress AddressOf(const sockaddr_storage& peer, socklen_t size);
/// What one who has many addresses usually has: 127.0.0.0/8 (any local user may take any of these), an IPv4 /24, an
/// IPv6 /48.
struct ClientNetwork {
  std::array<unsigned char, 6> prefix{};  // network order
  bool v6 = false;
  auto operator<=>(const ClientNetwork&) const = default;
};
[[nodiscard]] ClientNetwork NetworkOf(const ClientAddress& client);
/// "10.0.0.1" or "2001:db8::/64".
[[nodiscard]] std::string ToString(const ClientAddress& client);

}  // namespace kepler::http::server
