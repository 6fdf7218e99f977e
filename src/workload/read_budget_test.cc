#include "workload/read_budget.h"

#include <gtest/gtest.h>

namespace kepler::workload {
namespace {

using namespace std::chrono_literals;

class ReadBudgetTest : public ::testing::Test {
 protected:
  ReadBudgetTest() { budget_.BeginScan(now_); }
  bool MayRead(const std::string& payer) { return budget_.Refusal(payer, now_).empty(); }
  /// A read that was its payer's fault, or the machine's.
  void Read(const std::string& payer, Nanoseconds took) { budget_.Charge(payer, took, took, now_); }
  void NextScan(Nanoseconds after = 5s) { budget_.BeginScan(now_ += after); }

  static constexpr ReadBudget::Limits kLimits{};
  ReadBudget budget_{kLimits};
  BootTime now_{1h};
};

TEST_F(ReadBudgetTest, PromptReadsCountToo) {
  int reads = 0;
  for (; MayRead("a"); ++reads) Read("a", 9ms);
  EXPECT_EQ(reads, 3) << "20 ms, and the one that was begun";
  EXPECT_TRUE(MayRead("b"));
  NextScan(1ms);
  EXPECT_TRUE(MayRead("a")) << "who was prompt waits for the next scan only";
}

TEST_F(ReadBudgetTest, AScanHasAnEndHoweverManyPay) {
  int reads = 0;
  for (; MayRead(std::to_string(reads)) && reads < 1000; ++reads) Read(std::to_string(reads), 9ms);
  EXPECT_EQ(reads, 23) << "200 ms, and the one that was begun";
  EXPECT_FALSE(MayRead("other"));
  NextScan(1ms);
  EXPECT_TRUE(MayRead("other"));
}

TEST_F(ReadBudgetTest, SlowPayer_WaitsTwiceAsLongEachTime) {
  for (const auto pause : {5s, 10s, 20s, 40s, 80s, 80s}) {
    ASSERT_TRUE(MayRead("a"));
    Read("a", kLimits.slow);
    NextScan(pause - 1ms);
    EXPECT_FALSE(MayRead("a")) << pause.count();
    EXPECT_TRUE(MayRead("b"));
    NextScan(1ms);
  }
  Read("a", 1ms);
  NextScan(ReadBudget::kLongestPause + 1ms);
  Read("a", kLimits.slow);
  NextScan(ReadBudget::kFirstPause);
  EXPECT_TRUE(MayRead("a")) << "good for so long, it begins anew";
}

TEST_F(ReadBudgetTest, WhatTheMachineTook_IsNobodysFault) {
  budget_.Charge("a", 90ms, 1ms, now_);
  EXPECT_TRUE(MayRead("a"));
  budget_.Charge("a", 110ms, 1ms, now_);
  EXPECT_FALSE(MayRead("a")) << "the scan is over all the same";
  NextScan();
  EXPECT_TRUE(MayRead("a"));
}

TEST_F(ReadBudgetTest, MorePayersThanAreKept_AllAreForgotten) {
  Read("slow", kLimits.slow);
  for (size_t i = 0; i < ReadBudget::kMaxPayers - 1; ++i) Read(std::to_string(i), 1us);
  EXPECT_FALSE(MayRead("slow"));
  Read("one more", 1us);
  EXPECT_TRUE(MayRead("slow"));
}

}  // namespace
}  // namespace kepler::workload
