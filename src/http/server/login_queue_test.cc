#include "http/server/login_queue.h"

#include <gtest/gtest.h>

#include "http/server/test_addresses.h"

namespace kepler::http::server {
namespace {

using namespace std::chrono_literals;
using testing::Client;

/// Of another network each.
ClientAddress Elsewhere(unsigned char number) { return {.prefix = {10, 1, number, 1}}; }
LoginJob JobOf(const ClientAddress& client, std::string password, bool has_failed = false) {
  return {.client = client, .has_failed = has_failed, .hash = {}, .password = std::move(password)};
}
LoginJob Job(unsigned char client, std::string password, bool has_failed = false) {
  return JobOf(Client(client), std::move(password), has_failed);
}
/// Of 64 clients of one network, the most that each may have: all there is room for. Their passwords are "0a" to "63d".
void Fill(LoginQueue& queue) {
  static_assert(LoginQueue::kMax == 64 * LoginQueue::kMaxOfOne);
  for (const auto* which : {"a", "b", "c", "d"})
    for (unsigned char i = 0; i < 64; ++i) ASSERT_TRUE(queue.Add(Job(i, std::to_string(i) + which)).queued);
}
/// "a b c", in the order of taking.
std::string Order(LoginQueue& queue) {
  std::string order;
  while (const auto job = queue.Take()) order += (order.empty() ? "" : " ") + job->password;
  return order;
}

TEST(LoginQueue, Clients_TakeTurns) {
  LoginQueue queue;
  for (const auto* password : {"a1", "a2", "a3", "a4"}) EXPECT_TRUE(queue.Add(Job(1, password)).queued);
  EXPECT_TRUE(queue.Add(Job(2, "b1")).queued);
  EXPECT_EQ(queue.Take()->password, "a1");
  EXPECT_TRUE(queue.Add(Job(3, "c1")).queued);
  EXPECT_TRUE(queue.Add(Job(2, "b2")).queued);
  EXPECT_EQ(Order(queue), "b1 a2 c1 b2 a3 a4");
  EXPECT_TRUE(queue.empty());
}

TEST(LoginQueue, OneClient_HasAFewPlacesOnly) {
  LoginQueue queue;
  for (size_t i = 0; i < LoginQueue::kMaxOfOne; ++i) EXPECT_TRUE(queue.Add(Job(1, "x")).queued);
  EXPECT_FALSE(queue.Add(Job(1, "x")).queued);
  EXPECT_TRUE(queue.Add(Job(2, "y")).queued);
  ASSERT_TRUE(queue.Take());
  EXPECT_TRUE(queue.Add(Job(1, "x")).queued);
}

TEST(LoginQueue, Networks_TakeTurnsBeforeTheirClientsDo) {
  LoginQueue queue;
  for (const auto* password : {"a1", "a2"}) ASSERT_TRUE(queue.Add(Job(1, password)).queued);
  for (const auto* password : {"b1", "b2"}) ASSERT_TRUE(queue.Add(Job(2, password)).queued);
  ASSERT_TRUE(queue.Add(Job(3, "c1")).queued);
  for (const auto* password : {"x1", "x2"}) ASSERT_TRUE(queue.Add(JobOf(Elsewhere(1), password)).queued);
  EXPECT_EQ(Order(queue), "a1 x1 b1 x2 c1 a2 b2");
}

TEST(LoginQueue, WhoHasFailed_GoesBehindTheOthersOfItsNetworkOnly) {
  LoginQueue queue;
  ASSERT_TRUE(queue.Add(Job(1, "a1", /*has_failed=*/true)).queued);
  for (const auto* password : {"b1", "b2", "b3"}) ASSERT_TRUE(queue.Add(Job(2, password)).queued);
  ASSERT_TRUE(queue.Add(Job(3, "c1")).queued);
  ASSERT_TRUE(queue.Add(JobOf(Elsewhere(1), "x1", /*has_failed=*/true)).queued);
  EXPECT_EQ(queue.Take()->password, "b1");
  EXPECT_EQ(queue.Take()->password, "x1");
  queue.MarkFailed(Client(2));
  queue.MarkFailed(Client(9));  // nothing of this client waits
  EXPECT_EQ(Order(queue), "c1 a1 b2 b3");
}

TEST(LoginQueue, FullQueue_MakesRoomForOneOfAnotherNetwork) {
  LoginQueue queue;
  Fill(queue);
  const auto added = queue.Add(JobOf(Elsewhere(1), "x1", /*has_failed=*/true));
  EXPECT_TRUE(added.queued);
  EXPECT_EQ(added.dropped.value().password, "63d");  // the newest of all
  EXPECT_EQ(queue.Add(JobOf(Elsewhere(1), "x2")).dropped.value().password, "62d");
  EXPECT_EQ(queue.Take()->password, "0a");
  EXPECT_EQ(queue.Take()->password, "x1");
}

TEST(LoginQueue, FullQueue_MakesRoomForANewcomerOfTheSameNetwork) {
  LoginQueue queue;
  Fill(queue);
  const auto added = queue.Add(Job(100, "new"));
  EXPECT_TRUE(added.queued);
  EXPECT_EQ(added.dropped.value().password, "63d");
  EXPECT_EQ(added.dropped->client, Client(63));
  for (unsigned char i = 0; i < 64; ++i) queue.MarkFailed(Client(i));
  EXPECT_EQ(queue.Take()->password, "new");
}

TEST(LoginQueue, FullQueue_DropsThoseWhoHaveFailedFirst) {
  LoginQueue queue;
  Fill(queue);
  queue.MarkFailed(Client(7));
  EXPECT_EQ(queue.Add(Job(100, "new")).dropped.value().password, "7d");
}

TEST(LoginQueue, FullQueueOfEqualShares_RefusesTheNewcomer) {
  LoginQueue queue;
  for (size_t i = 0; i < LoginQueue::kMax; ++i)
    ASSERT_TRUE(queue.Add(Job(static_cast<unsigned char>(i), std::to_string(i))).queued);
  const ClientAddress local{.prefix = {10, 0, 0, 0, 1}};  // one more of them, for the test
  EXPECT_FALSE(queue.Add(JobOf(local, "new")).queued);
  EXPECT_FALSE(queue.Add(Job(1, "more")).queued);
  queue.MarkFailed(Client(7));
  EXPECT_FALSE(queue.Add(JobOf(local, "new", /*has_failed=*/true)).queued);
  EXPECT_EQ(queue.Add(JobOf(local, "new")).dropped.value().password, "7");
}

TEST(LoginQueue, FullQueueOfManyNetworks_RefusesOneMore) {
  LoginQueue queue;
  for (size_t i = 0; i < LoginQueue::kMax; ++i)
    ASSERT_TRUE(queue.Add(JobOf(Elsewhere(static_cast<unsigned char>(i)), "x")).queued);
  EXPECT_FALSE(queue.Add(Job(1, "new")).queued);
  ASSERT_TRUE(queue.Take());
  EXPECT_TRUE(queue.Add(Job(1, "new")).queued);
}

TEST(LoginQueue, FullQueueOfNetworksThatHaveFailed_MakesRoomForWhoHasNot) {
  LoginQueue queue;
  for (size_t i = 0; i < LoginQueue::kMax; ++i) {
    LoginJob job = JobOf(Elsewhere(static_cast<unsigned char>(i)), "x");
    job.has_failed = true;
    ASSERT_TRUE(queue.Add(std::move(job)).queued);
  }
  const auto added = queue.Add(Job(1, "new"));
  EXPECT_TRUE(added.queued);
  ASSERT_TRUE(added.dropped);
  EXPECT_TRUE(added.dropped->has_failed);
}

TEST(LoginQueue, WhatIsDroppedAndTaken_LeavesNothingBehind) {
  LoginQueue queue;
  Fill(queue);
  for (unsigned char i = 0; i < 100; ++i) EXPECT_TRUE(queue.Add(JobOf(Elsewhere(i), "x")).queued);
  size_t taken = 0;
  while (queue.Take()) ++taken;
  EXPECT_EQ(taken, LoginQueue::kMax);
  EXPECT_TRUE(queue.empty());
  Fill(queue);  // there is room for all of them again
}

TEST(LoginQueue, TakeAllOf_LeavesTheOthersTheirTurns) {
  LoginQueue queue;
  for (const auto* password : {"a1", "a2"}) ASSERT_TRUE(queue.Add(Job(1, password)).queued);
  for (const auto* password : {"b1", "b2"}) ASSERT_TRUE(queue.Add(Job(2, password)).queued);
  EXPECT_EQ(queue.TakeAllOf(Client(1)).size(), 2u);
  EXPECT_EQ(queue.TakeAllOf(Client(1)).size(), 0u);
  ASSERT_TRUE(queue.Add(Job(1, "a3")).queued);
  EXPECT_EQ(Order(queue), "b1 a3 b2");
}

TEST(HashBudget, FailedHashes_TakeAQuarterInTheLongRun) {
  HashBudget budget;
  HashBudget::SteadyTime now{1h};
  EXPECT_LE(budget.Next(), now);
  std::chrono::nanoseconds worked{0};
  while (now < HashBudget::SteadyTime{2h}) {
    now = std::max(now, budget.Next()) + 100ms;
    budget.Wasted(100ms, now);
    worked += 100ms;
  }
  EXPECT_NEAR(std::chrono::duration<double>(worked).count(), 900 + 7.5, 1.0);
}

TEST(HashBudget, FewFailures_DelayNobody) {
  HashBudget budget;
  const HashBudget::SteadyTime now{1h};
  for (int i = 0; i < 7; ++i) budget.Wasted(1s, now);
  EXPECT_LE(budget.Next(), now);
  budget.Wasted(1s, now);
  EXPECT_EQ(budget.Next(), now + 2s);
  EXPECT_LE(budget.Next(), now + 2s);
}

}  // namespace
}  // namespace kepler::http::server
