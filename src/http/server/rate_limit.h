#pragma once
// Rate limit per client, independent of the requests of other clients. Pure; the caller passes the time.
#include <algorithm>
#include <chrono>
#include <map>

#include "http/server/client_address.h"
#include "http/webconfig/web_config.h"

namespace kepler::http::server {

/// `burst` requests at once, then one per interval.
class TokenBucket {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Returns true if one more request may pass now. A changed limit starts with a full bucket.
  [[nodiscard]] bool Take(const webconfig::RateLimit& limit, SteadyTime now) {
    if (limit.interval.count() <= 0) return true;
    const auto burst = static_cast<double>(limit.burst);
    if (limit != limit_) {
      limit_ = limit;
      tokens_ = burst;
    } else {
      tokens_ = std::min(burst, tokens_ + std::chrono::duration<double, std::nano>(now - last_) / limit.interval);
    }
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  /// How long after last() the next request may pass.
  [[nodiscard]] std::chrono::nanoseconds Wait() const {
    return std::chrono::ceil<std::chrono::nanoseconds>(std::max(0.0, 1 - tokens_) *
                                                       std::chrono::duration<double, std::nano>(limit_.interval));
  }
  /// Time of the latest Take().
  [[nodiscard]] SteadyTime last() const { return last_; }

 private:
  webconfig::RateLimit limit_;
  double tokens_ = 0;
  SteadyTime last_{};
};

class ClientBuckets {
 public:
  static constexpr size_t kMaxClients = 1024;  // above it, the client with the oldest latest request is forgotten

  /// Returns true if one more request of `client` may pass now. A new or forgotten client starts with a full bucket.
  [[nodiscard]] bool Take(const ClientAddress& client, const webconfig::RateLimit& limit, TokenBucket::SteadyTime now) {
    if (limit.interval.count() <= 0) return true;
    if (buckets_.size() >= kMaxClients && !buckets_.contains(client))
      buckets_.erase(std::ranges::min_element(buckets_, {}, [](const auto& entry) { return entry.second.last(); }));
    return buckets_[client].Take(limit, now);
  }
  /// How long after its latest Take() the next request of `client` may pass; 0 for a client that is not known.
  [[nodiscard]] std::chrono::nanoseconds WaitOf(const ClientAddress& client) const {
    const auto bucket = buckets_.find(client);
    return bucket == buckets_.end() ? std::chrono::nanoseconds(0) : bucket->second.Wait();
  }
  [[nodiscard]] size_t size() const { return buckets_.size(); }

 private:
  std::map<ClientAddress, TokenBucket> buckets_;
};

}  // namespace kepler::http::server
