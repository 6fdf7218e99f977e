#pragma once
// The rate limit of each client: one that asks too often uses up nobody else's. Pure; time is handed in.
#include <map>

#include "http/server/client_address.h"
#include "http/server/token_bucket.h"

namespace kepler::http {

class ClientBuckets {
 public:
  static constexpr size_t kMaxClients = 1024;  // beyond, the one is forgotten that has not asked for longest

  /// Whether one more request of `client` may pass now. Who is new or forgotten starts with a full bucket.
  [[nodiscard]] bool Take(const ClientAddress& client, const RateLimit& limit, TokenBucket::SteadyTime now);
  [[nodiscard]] size_t size() const { return buckets_.size(); }

 private:
  std::map<ClientAddress, TokenBucket> buckets_;
};

}  // namespace kepler::http
