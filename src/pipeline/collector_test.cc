#include "pipeline/collector.h"

#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The real clock: the timers are the kernel's. Nothing sleeps; Fresh() waits for the tick that it asks for.
struct LiveNode : TestNode {
  LiveNode() {
    std::vector<std::unique_ptr<energy::EnergySource>> sources;
    sources.push_back(std::make_unique<ScriptedMeter>(counter, system_clock));
    meters = std::make_unique<energy::MeterSelector>(std::move(sources), system_clock);
    if (!meters->Open()) std::abort();
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, system_clock, proc.root(),
                                                std::make_shared<const std::vector<snapshot::CpuInfo>>()},
                                      attribution::RetentionPolicy{});
  }
  SystemClock system_clock;
};

TEST(Collector, OnDemandOnly_EachStaleReaderGetsANewTick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), Nanoseconds(0)});
  ASSERT_TRUE(collector.Start());
  const auto first = collector.Fresh();
  ASSERT_NE(first, nullptr);
  const auto second = collector.Fresh();
  ASSERT_NE(second, nullptr);
  EXPECT_GT(second->sequence, first->sequence);
  EXPECT_GE(second->taken_boot - first->taken_boot, Collector::kBetweenDemands);
  EXPECT_TRUE(collector.IsLive());
}

TEST(Collector, FreshSnapshot_IsServedWithoutATick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {hours(1), hours(1)});
  ASSERT_TRUE(collector.Start());
  const auto first = collector.Fresh();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(collector.Fresh()->sequence, first->sequence);
}

TEST(Collector, ManyReadersAtOnce_ShareOneTick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), milliseconds(300)});
  ASSERT_TRUE(collector.Start());
  std::vector<std::jthread> readers;
  std::atomic<uint64_t> most = 0;
  for (int i = 0; i < 50; ++i)
    readers.emplace_back([&] {
      const auto snapshot = collector.Fresh();
      ASSERT_NE(snapshot, nullptr);
      uint64_t seen = most;
      while (seen < snapshot->sequence && !most.compare_exchange_weak(seen, snapshot->sequence)) {
      }
    });
  readers.clear();
  EXPECT_LE(most, 3u);
}

TEST(Collector, StoppedTwice_IsFine) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {seconds(5), seconds(10)});
  ASSERT_TRUE(collector.Start());
  collector.Stop();
  collector.Stop();
}

TEST(Collector, NoTickForLong_IsNotLive) {
  // Far ahead of the kernel's clock, so that its timer does not fire for the deadlines of this one.
  TestNode node({}, hours(24 * 365 * 100));
  Collector collector(*node.tick, node.board, node.clock, {seconds(5), seconds(10)});
  ASSERT_TRUE(collector.Start());
  EXPECT_TRUE(collector.IsLive());
  collector.Stop();
  node.clock.Advance(seconds(14));
  EXPECT_TRUE(collector.IsLive());
  node.clock.Advance(seconds(2));
  EXPECT_FALSE(collector.IsLive());
}

}  // namespace
}  // namespace kepler::pipeline
