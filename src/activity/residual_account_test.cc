#include "activity/residual_account.h"

#include <gtest/gtest.h>

namespace kepler::activity {
namespace {

using namespace std::chrono_literals;

TEST(ResidualAccount, WhatIsLeftForLater_IsLessThanTheLeast) {
  ResidualAccount account;
  account.Start(100ms);
  account.AddKnown(20ms);
  EXPECT_EQ(account.Book(129ms, 10ms), 0ms);
  EXPECT_EQ(account.Book(130ms, 10ms), 10ms);
  EXPECT_EQ(account.Book(130ms, 10ms), 0ms);
}

TEST(ResidualAccount, Doubted_IsGivenUpAtTheSecondTime) {
  ResidualAccount account;
  account.Start(0ms);
  account.Doubt(10ms);
  EXPECT_EQ(account.Missing(10ms), 10ms);
  account.Doubt(14ms);
  EXPECT_EQ(account.Missing(14ms), 4ms);
  EXPECT_EQ(account.Book(14ms), 4ms);
}

TEST(ResidualAccount, Repaid_IsWhatWasBookedOnly) {
  ResidualAccount account;
  account.Start(0ms);
  EXPECT_EQ(account.Book(10ms), 10ms);
  EXPECT_EQ(account.Repay(4ms), 4ms);
  EXPECT_EQ(account.Repay(9ms), 6ms);
  EXPECT_EQ(account.Repay(1ms), 0ms);
}

TEST(ResidualAccount, Comparison_IsOfAtLeastSoMuch) {
  ResidualAccount account;
  account.Start(0ms);
  account.AddKnown(15ms);
  EXPECT_FALSE(account.Compare(19ms, true, 20ms));
  const auto first = account.Compare(20ms, true, 20ms);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->used, 20ms);
  EXPECT_EQ(first->difference, 5ms);
  EXPECT_EQ(account.Book(20ms), 5ms);
  account.AddKnown(20ms);
  EXPECT_EQ(account.Compare(40ms, true, 20ms)->difference, -5ms) << "the residual counts, once it is given";
}

TEST(ResidualAccount, Debt_IsWhatWasGivenBeyondTheUsage) {
  ResidualAccount account;
  account.Start(10ms);
  account.AddKnown(5ms);
  EXPECT_EQ(account.Debt(12ms), 3ms);
  EXPECT_EQ(account.Debt(20ms), 0ms);
}

}  // namespace
}  // namespace kepler::activity
