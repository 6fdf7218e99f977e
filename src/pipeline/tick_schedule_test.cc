#include "pipeline/tick_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kepler::pipeline {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(Schedule, OnTime_NothingIsMissed) {
  Schedule schedule(BootTime(seconds(10)), seconds(5));
  schedule.Advance(BootTime(seconds(10)));
  EXPECT_EQ(schedule.TakeMissed(), 0u);
  EXPECT_EQ(schedule.next(), BootTime(seconds(15)));
}

TEST(Schedule, OverdueTick_DoesNotShiftTheGrid) {
  Schedule schedule(BootTime(seconds(10)), seconds(5));
  schedule.Advance(BootTime(seconds(13)));
  EXPECT_EQ(schedule.TakeMissed(), 0u);
  EXPECT_EQ(schedule.next(), BootTime(seconds(15)));
}

TEST(Schedule, TenMinutesAsleep_SkipsAndCounts) {
  Schedule schedule(BootTime(seconds(10)), seconds(5));
  schedule.Advance(BootTime(seconds(10) + minutes(10)));
  EXPECT_EQ(schedule.TakeMissed(), 120u);
  EXPECT_EQ(schedule.next(), BootTime(seconds(15) + minutes(10)));
}

TEST(Schedule, MissedDeadlines_AreKeptUntilTheyAreTaken) {
  Schedule schedule(BootTime(seconds(10)), seconds(5));
  schedule.Advance(BootTime(seconds(21)));
  schedule.Advance(BootTime(seconds(31)));
  EXPECT_EQ(schedule.TakeMissed(), 3u);
  EXPECT_EQ(schedule.TakeMissed(), 0u);
}

TEST(Schedule, IntervalZero_OnlyTheFirst) {
  Schedule schedule(BootTime(seconds(10)), seconds(0));
  EXPECT_EQ(schedule.next(), BootTime(seconds(10)));
  schedule.Advance(BootTime(seconds(99)));
  EXPECT_EQ(schedule.TakeMissed(), 0u);
  EXPECT_EQ(schedule.next(), std::nullopt);
}

RC_GTEST_PROP(Schedule, NextIsAlwaysAheadAndOnTheGrid, ()) {
  const auto interval = Nanoseconds(*rc::gen::inRange<int64_t>(1, 10'000'000'000));
  Schedule schedule(BootTime{}, interval);
  BootTime now{};
  uint64_t ticks = 0;
  uint64_t missed = 0;
  for (int i = 0; i < 50; ++i) {
    now = std::max(now, *schedule.next()) + Nanoseconds(*rc::gen::inRange<int64_t>(0, 20'000'000'000));
    schedule.Advance(now);
    missed += schedule.TakeMissed();
    ++ticks;
    RC_ASSERT(*schedule.next() > now);
    RC_ASSERT(*schedule.next() - now <= interval);
    RC_ASSERT((*schedule.next() - BootTime{}) % interval == Nanoseconds(0));
    RC_ASSERT((*schedule.next() - BootTime{}) / interval == static_cast<int64_t>(ticks + missed));
  }
}

TEST(Freshness, Ages) {
  const Freshness freshness{seconds(5), seconds(10)};
  EXPECT_TRUE(freshness.IsFresh(BootTime{}, BootTime(seconds(10))));
  EXPECT_FALSE(freshness.IsFresh(BootTime{}, BootTime(seconds(11))));
  EXPECT_FALSE(freshness.IsOld(BootTime{}, BootTime(seconds(15))));
  EXPECT_TRUE(freshness.IsOld(BootTime{}, BootTime(seconds(16))));
}

TEST(Freshness, NothingConfigured_TheTickJustAskedForIsNotOld) {
  const Freshness on_demand{seconds(0), seconds(0)};
  EXPECT_FALSE(on_demand.IsFresh(BootTime{}, BootTime(std::chrono::milliseconds(1))));
  EXPECT_FALSE(on_demand.IsOld(BootTime{}, BootTime(seconds(1))));
  EXPECT_TRUE(on_demand.IsOld(BootTime{}, BootTime(std::chrono::milliseconds(1001))));
}

}  // namespace
}  // namespace kepler::pipeline
