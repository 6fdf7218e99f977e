#pragma once
// Number of connections per network and client. At the limit, the network and client with the most of them lose one.
// The network comes first, because an IPv6 /48 holds 65,536 client addresses (/64). The client comes second, so that
// one client cannot keep its neighbours out.
// Pure; on the I/O thread.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "http/server/client_address.h"

namespace kepler::http::server {

class ClientShares {
 public:
  void Add(const ClientAddress& client) {
    Network& network = networks_[NetworkOf(client)];
    ++network.connections;
    ++network.clients[client];
  }
  /// `client` must have a connection.
  void Remove(const ClientAddress& client) {
    const auto network = networks_.find(NetworkOf(client));
    const auto share = network->second.clients.find(client);
    if (--share->second == 0) network->second.clients.erase(share);
    if (--network->second.connections == 0) networks_.erase(network);
  }
  struct Crowd {
    std::vector<ClientAddress> clients;  // clients with equally many connections; sorted, never empty
    size_t connections = 0;              // of their network; of each client if the newcomer is in the same network
  };
  /// Returns the clients with the most connections in the network with the most, if the newcomer's network has fewer
  /// even with one more. Else returns those of the newcomer's network, if `newcomer` has fewer even with one more.
  [[nodiscard]] std::optional<Crowd> MoreThan(const ClientAddress& newcomer) const {
    const auto largest =
        std::ranges::max_element(networks_, {}, [](const auto& network) { return network.second.connections; });
    if (largest == networks_.end()) return std::nullopt;
    const auto own = networks_.find(NetworkOf(newcomer));
    if (largest->second.connections > (own == networks_.end() ? 0 : own->second.connections) + 1)
      return Crowd{LargestOf(largest->second), largest->second.connections};
    if (own == networks_.end()) return std::nullopt;
    const Shares& clients = own->second.clients;
    const auto share = clients.find(newcomer);
    auto crowd = LargestOf(own->second);
    const size_t most = clients.at(crowd.front());
    if (most <= (share == clients.end() ? 0 : share->second) + 1) return std::nullopt;
    return Crowd{std::move(crowd), most};
  }
  [[nodiscard]] size_t size() const { return networks_.size(); }

 private:
  using Shares = std::map<ClientAddress, size_t>;
  struct Network {
    size_t connections = 0;
    Shares clients;  // never empty
  };
  static std::vector<ClientAddress> LargestOf(const Network& network) {
    const auto share_of = [](const auto& share) { return share.second; };
    const size_t most = std::ranges::max_element(network.clients, {}, share_of)->second;
    std::vector<ClientAddress> clients;
    for (const auto& [client, share] : network.clients)
      if (share == most) clients.push_back(client);
    return clients;
  }

  std::map<ClientNetwork, Network> networks_;
};

}  // namespace kepler::http::server
