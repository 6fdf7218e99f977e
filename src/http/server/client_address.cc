#include "http/server/client_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace kepler::http::server {

ClientAddress AddressOf(const sockaddr_storage& peer, socklen_t size) {
  constexpr size_t kMappedAt = 12;  // ::ffff:a.b.c.d
  ClientAddress client;
  if (peer.ss_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in address{};
    std::memcpy(&address, &peer, sizeof address);
    std::memcpy(client.prefix.data(), &address.sin_addr, sizeof address.sin_addr);
  } else if (peer.ss_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 address{};
    std::memcpy(&address, &peer, sizeof address);
    client.v6 = !IN6_IS_ADDR_V4MAPPED(&address.sin6_addr);
    if (client.v6)
      std::memcpy(client.prefix.data(), &address.sin6_addr, client.prefix.size());
    else
      std::memcpy(client.prefix.data(), address.sin6_addr.s6_addr + kMappedAt, sizeof(in_addr));
  }
  return client;
}

ClientNetwork NetworkOf(const ClientAddress& client) {
  const size_t bytes = client.v6 ? 6 : client.prefix[0] == IN_LOOPBACKNET ? 1 : 3;
  ClientNetwork network{.v6 = client.v6};
  std::copy_n(client.prefix.begin(), bytes, network.prefix.begin());
  return network;
}

std::string ToString(const ClientAddress& client) {
  std::array<unsigned char, sizeof(in6_addr)> whole{};
  std::memcpy(whole.data(), client.prefix.data(), client.prefix.size());
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(client.v6 ? AF_INET6 : AF_INET, whole.data(), text.data(), text.size());
  return std::string(text.data()) + (client.v6 ? "/64" : "");
}

}  // namespace kepler::http::server
