#include "pipeline/node_features.h"

#include <gtest/gtest.h>

namespace kepler::pipeline {
namespace {

using namespace std::chrono_literals;

os::ProcStat Stat(uint64_t user, std::optional<os::Softirqs> softirqs) {
  os::ProcStat stat;
  stat.cpu.user = user;
  stat.softirqs = softirqs;
  return stat;
}

TEST(NodeFeatures, CountFromTheFirstReadingOn_AndNeverFall) {
  NodeFeatures features(nullptr);
  features.AddStat(Stat(500, os::Softirqs{.net_tx = 7, .net_rx = 8, .block = 9}));
  EXPECT_EQ(features.totals().cpu, 0ns);
  ASSERT_TRUE(features.totals().softirqs);
  EXPECT_EQ(features.totals().softirqs->block, 0u);
  features.AddStat(Stat(600, os::Softirqs{.net_tx = 8, .net_rx = 10, .block = 12}));
  EXPECT_EQ(features.totals().cpu, 1s);
  EXPECT_EQ(features.totals().softirqs->net_tx, 1u);
  EXPECT_EQ(features.totals().softirqs->net_rx, 2u);
  EXPECT_EQ(features.totals().softirqs->block, 3u);
  features.AddStat(Stat(100, os::Softirqs{}));
  EXPECT_EQ(features.totals().cpu, 1s);
  EXPECT_EQ(features.totals().softirqs->block, 3u);
}

TEST(NodeFeatures, OfGuests_CountFromTheFirstReadingOn) {
  NodeFeatures features(nullptr);
  os::ProcStat stat = Stat(0, std::nullopt);
  features.AddStat(stat);
  EXPECT_FALSE(features.totals().page_faults);
  stat.page_faults = 70;
  stat.context_switches = 80;
  stat.used_memory = 4096;
  stat.cpu.cpus = 2;
  features.AddStat(stat);
  EXPECT_EQ(features.totals().page_faults, 0u) << "how many there were before is of no interval";
  stat.cpu.steal += 100;
  *stat.page_faults += 3;
  *stat.context_switches += 4;
  stat.used_memory = 1024;
  features.AddStat(stat);
  EXPECT_EQ(features.totals().steal, 1s);
  EXPECT_EQ(features.totals().cpus, 2u);
  EXPECT_EQ(features.totals().page_faults, 3u);
  EXPECT_EQ(features.totals().context_switches, 4u);
  EXPECT_EQ(features.totals().used_memory, 1024u);
}

TEST(NodeFeatures, KernelWithoutSoftirqs_SaysNothingOfThem) {
  NodeFeatures features(nullptr);
  features.AddStat(Stat(0, std::nullopt));
  features.AddStat(Stat(1, std::nullopt));
  EXPECT_FALSE(features.totals().softirqs);
}

TEST(NodeFeatures, EventsOfAllWhoRan_AreThere_WhereTheyAreCounted) {
  const auto shared = std::make_shared<NodeEvents>();
  NodeFeatures features(shared);
  activity::ActivitySample sample;
  sample.taken_at = BootTime(5s);
  sample.processes.emplace_back().events = {1, 2, 3};
  sample.exited.emplace_back().events = {10, 20, 30};
  sample.short_lived.emplace_back().events = {100, 200, 300};
  features.AddScan(sample, false);
  EXPECT_FALSE(features.totals().events);
  features.AddScan(sample, true);
  features.AddScan(sample, true);
  EXPECT_EQ(features.totals().events, (HardwareEvents{222, 444, 666}));
  EXPECT_EQ(shared->total, (HardwareEvents{222, 444, 666}));
  EXPECT_EQ(shared->at, BootTime(5s));
  features.AddScan(sample, false);
  EXPECT_FALSE(features.totals().events) << "a counter that is not advancing is no rate of 0";
}

}  // namespace
}  // namespace kepler::pipeline
