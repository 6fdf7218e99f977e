#include <gtest/gtest.h>

#include "http/server/rate_limit.h"
#include "http/server/test_addresses.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Client;

constexpr TokenBucket::SteadyTime kFirst{1h};
constexpr webconfig::RateLimit kOnePerHour{.interval = 1h, .burst = 1};

TEST(ClientBuckets, OneThatAsksTooOften_UsesUpItsOwnOnly) {
  ClientBuckets buckets;
  EXPECT_TRUE(buckets.Take(Client(1), kOnePerHour, kFirst));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(buckets.Take(Client(1), kOnePerHour, kFirst));
  EXPECT_EQ(buckets.WaitOf(Client(1)), 1h);
  EXPECT_EQ(buckets.WaitOf(Client(2)), 0s);
  EXPECT_TRUE(buckets.Take(Client(2), kOnePerHour, kFirst));
  EXPECT_TRUE(buckets.Take(Client(1), kOnePerHour, kFirst + 61min));
}

TEST(ClientBuckets, NoLimit_RemembersNobody) {
  ClientBuckets buckets;
  for (size_t i = 0; i < 10; ++i) EXPECT_TRUE(buckets.Take(Client(i), {}, kFirst));
  EXPECT_EQ(buckets.size(), 0u);
}

TEST(ClientBuckets, MoreClientsThanTheTableHolds_ForgetWhoHasNotAskedForLongest) {
  ClientBuckets buckets;
  for (size_t i = 0; i < ClientBuckets::kMaxClients; ++i)
    EXPECT_TRUE(buckets.Take(Client(i), kOnePerHour, kFirst + i * 1us));
  const auto later = kFirst + 1s;
  EXPECT_FALSE(buckets.Take(Client(0), kOnePerHour, later));  // asked first, and again
  EXPECT_TRUE(buckets.Take(Client(ClientBuckets::kMaxClients), kOnePerHour, later));
  EXPECT_EQ(buckets.size(), ClientBuckets::kMaxClients);
  EXPECT_FALSE(buckets.Take(Client(0), kOnePerHour, later));
  EXPECT_FALSE(buckets.Take(Client(2), kOnePerHour, later));
  EXPECT_TRUE(buckets.Take(Client(1), kOnePerHour, later));  // was the one
}

}  // namespace
}  // namespace kepler::http::server
