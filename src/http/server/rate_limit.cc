#include "http/server/rate_limit.h"

namespace kepler::http {

bool ClientBuckets::Take(const ClientAddress& client, const RateLimit& limit, TokenBucket::SteadyTime now) {
  if (limit.interval.count() <= 0) return true;
  if (buckets_.size() >= kMaxClients && !buckets_.contains(client))
    buckets_.erase(std::ranges::min_element(buckets_, {}, [](const auto& entry) { return entry.second.last(); }));
  return buckets_[client].Take(limit, now);
}

}  // namespace kepler::http
