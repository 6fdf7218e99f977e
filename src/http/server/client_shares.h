#pragma once
// How many connections each client has, so that at the limit the one with most gives way. Pure; on the I/O thread.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "http/server/client_address.h"

namespace kepler::http {

class ClientShares {
 public:
  void Add(const ClientAddress& client) { ++shares_[client]; }
  /// `client` has one.
  void Remove(const ClientAddress& client) {
    const auto share = shares_.find(client);
    if (--share->second == 0) shares_.erase(share);
  }
  /// The client with most connections, if `newcomer` has fewer even with one more.
  [[nodiscard]] std::optional<ClientAddress> MoreThan(const ClientAddress& newcomer) const {
    const auto largest = std::ranges::max_element(shares_, {}, [](const auto& share) { return share.second; });
    const auto own = shares_.find(newcomer);
    const size_t count = own == shares_.end() ? 0 : own->second;
    if (largest == shares_.end() || largest->second <= count + 1) return std::nullopt;
    return largest->first;
  }
  [[nodiscard]] size_t size() const { return shares_.size(); }

 private:
  std::map<ClientAddress, size_t> shares_;
};

}  // namespace kepler::http
