#include "energy/modeled/node_rates.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kepler::energy::modeled {
namespace {

using namespace std::chrono_literals;

class NodeRatesTest : public ::testing::Test {
 protected:
  NodeRatesTest() {
    stat_.at = BootTime(1h);
    stat_.cpu.cpus = 2;
    stat_.softirqs.emplace();
  }
  /// The machine runs for so long, and what the test has added is read.
  std::optional<NodeInterval> After(Nanoseconds time) {
    stat_.at += time;
    return rates_.Update(stat_);
  }
  void Scan(uint64_t events) {
    events_->counted = true;
    events_->total += {events, 2 * events, 3 * events};
    events_->at = stat_.at;
  }

  os::ProcStat stat_;
  std::shared_ptr<NodeEvents> events_ = std::make_shared<NodeEvents>();
  NodeRates rates_{events_};
};

TEST_F(NodeRatesTest, FirstReading_SaysNothing) {
  EXPECT_FALSE(After(0s));
  EXPECT_FALSE(After(0s)) << "no time has passed";
  EXPECT_TRUE(After(1s));
}

TEST_F(NodeRatesTest, RatesAreSharesOfTheTime) {
  After(0s);
  stat_.cpu.user += 150;
  stat_.cpu.steal += 1000;
  stat_.softirqs = {.net_tx = 20, .net_rx = 40, .block = 10};
  const auto interval = After(2s);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->seconds, 2);
  EXPECT_DOUBLE_EQ(interval->rates[kCpuTime], 750) << "steal is other guests'";
  EXPECT_DOUBLE_EQ(interval->rates[kBlock], 5);
  EXPECT_DOUBLE_EQ(interval->rates[kNetRx], 20);
  EXPECT_DOUBLE_EQ(interval->rates[kNetTx], 10);
  EXPECT_TRUE(std::isnan(interval->rates[kCycles]));
}

TEST_F(NodeRatesTest, GuestFeatures_AreRates_AndMemoryIsAsItIsNow) {
  stat_.context_switches = 100;
  stat_.page_faults = 50;
  After(0s);
  stat_.cpu.steal += 30;
  *stat_.context_switches += 10;
  *stat_.page_faults += 6;
  stat_.used_memory = 4096;
  EXPECT_DOUBLE_EQ(After(2s)->rates[kSteal], 150);
  EXPECT_FALSE(rates_.known().test(kUsedMemory)) << "not in both readings";
  *stat_.context_switches += 10;
  *stat_.page_faults += 6;
  const auto interval = After(2s);
  EXPECT_DOUBLE_EQ(interval->rates[kSwitches], 5);
  EXPECT_DOUBLE_EQ(interval->rates[kPageFaults], 3);
  EXPECT_DOUBLE_EQ(interval->rates[kUsedMemory], 4096);
}

TEST_F(NodeRatesTest, KernelWithoutSoftirqs_TheyAreNotKnown) {
  stat_.softirqs.reset();
  After(0s);
  EXPECT_EQ(rates_.known(), RateSet("00010000001"));
  EXPECT_TRUE(std::isnan(After(1s)->rates[kBlock]));
}

TEST_F(NodeRatesTest, Events_AreKnownFromTheSecondScanOn) {
  After(0s);
  Scan(0);
  EXPECT_TRUE(std::isnan(After(1s)->rates[kCycles]));
  Scan(500);
  const auto interval = After(1s);
  EXPECT_EQ(rates_.known(), RateSet("00011111111"));
  EXPECT_DOUBLE_EQ(interval->rates[kCycles], 500);
  EXPECT_DOUBLE_EQ(interval->rates[kInstructions], 1000);
  EXPECT_DOUBLE_EQ(interval->rates[kCacheMisses], 1500);
}

TEST_F(NodeRatesTest, ScanFails_TheLastRatesGoOn_AndTheNextCoversBoth) {
  After(0s);
  Scan(0);
  After(1s);
  Scan(500);
  After(1s);
  EXPECT_DOUBLE_EQ(After(1s)->rates[kCycles], 500) << "there was no scan";
  Scan(2000);
  EXPECT_DOUBLE_EQ(After(1s)->rates[kCycles], 1000) << "in two seconds";
}

TEST_F(NodeRatesTest, NobodyCountsEventsAnyMore_TheyAreNotKnown) {
  After(0s);
  Scan(0);
  After(1s);
  Scan(500);
  After(1s);
  Scan(1);
  events_->counted = false;
  EXPECT_TRUE(std::isnan(After(1s)->rates[kCycles]));
  EXPECT_FALSE(rates_.known().test(kCycles));
}

TEST_F(NodeRatesTest, LongGap_OnlyWhatTheKernelCountedIsTime) {
  After(0s);
  stat_.cpu.user += 100;
  stat_.cpu.idle += 1900;
  const auto interval = After(8h);
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->seconds, 10);
  EXPECT_DOUBLE_EQ(interval->rates[kCpuTime], 100);
  EXPECT_FALSE(After(8h)) << "it slept all the time";
}

}  // namespace
}  // namespace kepler::energy::modeled
