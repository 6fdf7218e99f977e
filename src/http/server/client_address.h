#pragma once
// ClientAddress: the unit by which clients share limits fairly. It is the IPv4 address, or the /64 network of the IPv6
// address, because the owner of one IPv6 address usually has 2^64 of them. Behind NAT, several clients share one.
#include <sys/socket.h>

#include <array>
#include <compare>
#include <string>

namespace kepler::http::server {

struct ClientAddress {
  std::array<unsigned char, 8> prefix{};  // network order; IPv4 uses the first four bytes
  bool v6 = false;
  auto operator<=>(const ClientAddress&) const = default;
};

/// An IPv4 client of an IPv6 socket is an IPv4 client. All truncated addresses and other families are one client.
[[nodiscard]] ClientAddress AddressOf(const sockaddr_storage& peer, socklen_t size);
/// The network that one owner of many addresses usually has: 127.0.0.0/8 (any local user may use all of it), an IPv4
/// /24, or an IPv6 /48.
struct ClientNetwork {
  std::array<unsigned char, 6> prefix{};  // network order
  bool v6 = false;
  auto operator<=>(const ClientNetwork&) const = default;
};
[[nodiscard]] ClientNetwork NetworkOf(const ClientAddress& client);
/// "10.0.0.1" or "2001:db8::/64".
[[nodiscard]] std::string ToString(const ClientAddress& client);

}  // namespace kepler::http::server
