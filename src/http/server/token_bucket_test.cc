#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "http/server/rate_limit.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;

TEST(TokenBucket, NoInterval_AllowsAll) {
  TokenBucket bucket;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bucket.Take({}, TokenBucket::SteadyTime{}));
}

TEST(TokenBucket, Burst_ThenOnePerInterval) {
  TokenBucket bucket;
  const webconfig::RateLimit limit{.interval = 1s, .burst = 2};
  TokenBucket::SteadyTime now{1h};
  EXPECT_TRUE(bucket.Take(limit, now));
  EXPECT_TRUE(bucket.Take(limit, now));
  EXPECT_FALSE(bucket.Take(limit, now));
  EXPECT_FALSE(bucket.Take(limit, now + 999ms));
  EXPECT_TRUE(bucket.Take(limit, now + 1001ms));
  EXPECT_FALSE(bucket.Take(limit, now + 1002ms));
}

TEST(TokenBucket, Wait_EndsWhenTheNextOnePasses) {
  TokenBucket bucket;
  const webconfig::RateLimit limit{.interval = 8s, .burst = 1};
  const TokenBucket::SteadyTime now{1h};
  EXPECT_TRUE(bucket.Take(limit, now));
  EXPECT_FALSE(bucket.Take(limit, now));
  EXPECT_EQ(bucket.Wait(), 8s);
  EXPECT_FALSE(bucket.Take(limit, now + 6s));
  EXPECT_EQ(bucket.Wait(), 2s);
  EXPECT_TRUE(bucket.Take(limit, now + 6s + bucket.Wait()));
}

TEST(TokenBucket, LongPause_RefillsNoMoreThanBurst) {
  TokenBucket bucket;
  const webconfig::RateLimit limit{.interval = 1s, .burst = 2};
  EXPECT_TRUE(bucket.Take(limit, TokenBucket::SteadyTime{1h}));
  const TokenBucket::SteadyTime later{2h};
  EXPECT_TRUE(bucket.Take(limit, later));
  EXPECT_TRUE(bucket.Take(limit, later));
  EXPECT_FALSE(bucket.Take(limit, later));
}

TEST(TokenBucket, ChangedLimit_StartsFull) {
  TokenBucket bucket;
  const TokenBucket::SteadyTime now{1h};
  EXPECT_TRUE(bucket.Take({.interval = 1h, .burst = 1}, now));
  EXPECT_FALSE(bucket.Take({.interval = 1h, .burst = 1}, now));
  EXPECT_TRUE(bucket.Take({.interval = 1h, .burst = 2}, now));
}

RC_GTEST_PROP(TokenBucket, AnyTimes_NeverPassMoreThanTheRate, (const std::vector<uint16_t>& pauses_ms)) {
  TokenBucket bucket;
  const webconfig::RateLimit limit{.interval = 100ms, .burst = 3};
  TokenBucket::SteadyTime start{1h}, now = start;
  int64_t passed = 0;
  for (const auto pause : pauses_ms) {
    now += std::chrono::milliseconds(pause % 200);
    passed += bucket.Take(limit, now) ? 1 : 0;
    RC_ASSERT(passed <= limit.burst + (now - start) / limit.interval);
  }
}

}  // namespace
}  // namespace kepler::http::server
