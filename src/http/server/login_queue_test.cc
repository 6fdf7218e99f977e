#include "http/server/login_queue.h"

#include <gtest/gtest.h>

namespace kepler::http {
namespace {

using namespace std::chrono_literals;

ClientAddress Client(unsigned char number) { return {.prefix = {10, 0, 0, number}}; }
LoginJob Job(unsigned char client, std::string password) {
  return {.client = Client(client), .hash = {}, .password = std::move(password)};
}
/// "a b c", in the order of taking.
std::string Order(LoginQueue& queue) {
  std::string order;
  while (const auto job = queue.Take()) order += (order.empty() ? "" : " ") + job->password;
  return order;
}

TEST(LoginQueue, Clients_TakeTurns) {
  LoginQueue queue;
  for (const auto* password : {"a1", "a2", "a3", "a4"}) EXPECT_TRUE(queue.Add(Job(1, password)));
  EXPECT_TRUE(queue.Add(Job(2, "b1")));
  EXPECT_EQ(queue.Take()->password, "a1");
  EXPECT_TRUE(queue.Add(Job(3, "c1")));
  EXPECT_TRUE(queue.Add(Job(2, "b2")));
  EXPECT_EQ(Order(queue), "b1 a2 c1 b2 a3 a4");
  EXPECT_TRUE(queue.empty());
}

TEST(LoginQueue, OneClient_HasAFewPlacesOnly) {
  LoginQueue queue;
  for (size_t i = 0; i < LoginQueue::kMostOfOne; ++i) EXPECT_TRUE(queue.Add(Job(1, "x")));
  EXPECT_FALSE(queue.Add(Job(1, "x")));
  EXPECT_TRUE(queue.Add(Job(2, "y")));
  ASSERT_TRUE(queue.Take());
  EXPECT_TRUE(queue.Add(Job(1, "x")));
}

TEST(LoginQueue, ManyClients_AreBoundedTogether) {
  LoginQueue queue;
  for (size_t i = 0; i < LoginQueue::kMost; ++i) EXPECT_TRUE(queue.Add(Job(static_cast<unsigned char>(i), "x")));
  EXPECT_FALSE(queue.Add({.client = {.v6 = true}, .hash = {}, .password = {}}));
  ASSERT_TRUE(queue.Take());
  EXPECT_TRUE(queue.Add({.client = {.v6 = true}, .hash = {}, .password = {}}));
}

TEST(LoginQueue, TakeAllOf_LeavesTheOthersTheirTurns) {
  LoginQueue queue;
  for (const auto* password : {"a1", "a2"}) ASSERT_TRUE(queue.Add(Job(1, password)));
  for (const auto* password : {"b1", "b2"}) ASSERT_TRUE(queue.Add(Job(2, password)));
  EXPECT_EQ(queue.TakeAllOf(Client(1)).size(), 2u);
  EXPECT_EQ(queue.TakeAllOf(Client(1)).size(), 0u);
  ASSERT_TRUE(queue.Add(Job(1, "a3")));
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
}  // namespace kepler::http
