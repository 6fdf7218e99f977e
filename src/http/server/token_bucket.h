#pragma once
// A token bucket: `burst` requests at once, then one per interval. Pure; time is handed in.
#include <algorithm>
#include <chrono>

#include "http/server/web_config.h"

namespace kepler::http {

class TokenBucket {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Whether one more request may pass now. A changed limit starts with a full bucket.
  [[nodiscard]] bool Take(const RateLimit& limit, SteadyTime now) {
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

  /// When it was asked.
  [[nodiscard]] SteadyTime last() const { return last_; }

 private:
  RateLimit limit_;
  double tokens_ = 0;
  SteadyTime last_{};
};

}  // namespace kepler::http
