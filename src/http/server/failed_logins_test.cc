#include "http/server/failed_logins.h"

#include <gtest/gtest.h>

#include "http/server/test_addresses.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Client;

constexpr BootTime kStart{1h};

TEST(FailedLogins, FewFailures_CostNoWait) {
  FailedLogins logins;
  for (uint64_t i = 1; i < FailedLogins::kFirstToWait; ++i) EXPECT_EQ(logins.Add(Client(1), true, kStart), i);
  EXPECT_EQ(logins.Wait(Client(1), kStart), 0s);
}

TEST(FailedLogins, MoreOfThem_WaitTwiceAsLongEachTimeUpToAMinute) {
  FailedLogins logins;
  for (uint64_t i = 1; i < FailedLogins::kFirstToWait; ++i) logins.Add(Client(1), true, kStart);
  for (const auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    logins.Add(Client(1), true, kStart);
    EXPECT_EQ(logins.Wait(Client(1), kStart), wait);
  }
  EXPECT_EQ(logins.Wait(Client(1), kStart + 20s), 40s);
  EXPECT_EQ(logins.Wait(Client(1), kStart + 60s), 0s);
  EXPECT_EQ(logins.Wait(Client(2), kStart), 0s);
}

TEST(FailedLogins, FailuresWithoutAHash_AreCountedAndCostNoWait) {
  FailedLogins logins;
  uint64_t failures = 0;
  for (int i = 0; i < 100; ++i) failures = logins.Add(Client(1), false, kStart);
  EXPECT_EQ(failures, 100u);
  EXPECT_EQ(logins.Wait(Client(1), kStart), 0s);
}

TEST(FailedLogins, LongAgo_IsForgotten) {
  FailedLogins logins;
  for (int i = 0; i < 20; ++i) logins.Add(Client(1), true, kStart);
  EXPECT_TRUE(logins.Has(Client(1), kStart + FailedLogins::kMemory));
  EXPECT_FALSE(logins.Has(Client(2), kStart));
  EXPECT_FALSE(logins.Has(Client(1), kStart + FailedLogins::kMemory + 1ns));
  EXPECT_EQ(logins.Add(Client(1), true, kStart + FailedLogins::kMemory), 21u);
  EXPECT_EQ(logins.Add(Client(1), true, kStart + 3 * FailedLogins::kMemory), 1u);
}

TEST(FailedLogins, NewClient_MakesRoomForItselfAmongTheForgotten) {
  FailedLogins logins;
  for (unsigned n = 0; n < 10; ++n) logins.Add(Client(n), true, kStart);
  logins.Add(Client(10), true, kStart + 2 * FailedLogins::kMemory);
  EXPECT_EQ(logins.size(), 1u);
}

TEST(FailedLogins, MoreClientsThanTheTableHolds_ForgetTheOldest) {
  FailedLogins logins;
  for (unsigned n = 0; n <= FailedLogins::kMaxClients; ++n)
    for (int i = 0; i < 6; ++i) logins.Add(Client(n), true, kStart + n * 1us);
  EXPECT_EQ(logins.size(), FailedLogins::kMaxClients);
  EXPECT_EQ(logins.Wait(Client(0), kStart), 0s);
  EXPECT_GT(logins.Wait(Client(1), kStart), 0s);
  EXPECT_GT(logins.Wait(Client(FailedLogins::kMaxClients), kStart), 0s);
}

}  // namespace
}  // namespace kepler::http::server
