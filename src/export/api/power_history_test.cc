#include "export/api/power_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "export/series/figure_text.h"
#include "json/document.h"
#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A snapshot `at` after boot, with `active` and 1 W of idle power in each zone.
snapshot::Snapshot At(Nanoseconds at, double active, Nanoseconds interval = seconds(5)) {
  auto s = testing::EmptySnapshot({"package", "platform", "dram"});
  s.zones[1].domain = status::Domain::kPlatform;
  s.taken_boot = s.begun = BootTime(at);
  s.interval = interval;
  for (auto& zone : s.node) {
    zone.active_power = Power::Watts(active);
    zone.idle_power = Power::Watts(1);
  }
  return s;
}

TEST(PowerHistory, OnePointPerTick_OfCpuZones) {
  PowerHistory history(seconds(5));
  EXPECT_TRUE(history.Read(PowerHistory::kSpan).times.empty());
  history.Add(At(seconds(10), 2));
  history.Add(At(milliseconds(14'990), 3));  // slightly early
  const auto points = history.Read(PowerHistory::kSpan);
  EXPECT_EQ(points.step, seconds(5));
  EXPECT_THAT(points.zones, ElementsAre("package", "dram"));
  EXPECT_THAT(points.times, ElementsAre(BootTime(seconds(10)), BootTime(milliseconds(14'990))));
  EXPECT_THAT(points.active, ElementsAre(2, 2, 3, 3));
  EXPECT_THAT(points.idle, ElementsAre(1, 1, 1, 1));
}

TEST(PowerHistory, ShortIntervalsAreAveragedByTime) {
  PowerHistory history(milliseconds(100));
  history.Add(At(seconds(1), 8, milliseconds(100)));
  history.Add(At(milliseconds(1'100), 1, milliseconds(100)));
  history.Add(At(milliseconds(1'200), 1, milliseconds(100)));
  history.Add(At(milliseconds(2'000), 3, milliseconds(800)));
  EXPECT_THAT(history.Read(PowerHistory::kSpan).active, ElementsAre(8, 8, 2.6F, 2.6F));
}

TEST(PowerHistory, KeepsAnHour_AndReadsThePartThatIsWanted) {
  PowerHistory history(seconds(1));
  for (int i = 1; i <= 5000; ++i) history.Add(At(seconds(i), i, seconds(1)));
  const auto all = history.Read(PowerHistory::kSpan);
  ASSERT_EQ(all.times.size(), 3601u);
  EXPECT_EQ(all.times.front(), BootTime(seconds(1400)));
  EXPECT_EQ(all.active.back(), 5000);
  const auto minute = history.Read(seconds(60));
  EXPECT_EQ(minute.times.size(), 61u);
  EXPECT_EQ(minute.active.size(), 122u);
  EXPECT_EQ(minute.active.front(), 4940);
}

TEST(PowerHistory, UnknownWattsAreNull) {
  PowerHistory history(seconds(5));
  auto unknown = At(seconds(5), 2);
  unknown.node[2].fresh = false;
  history.Add(unknown);
  const std::string json = HistoryJson(history.Read(PowerHistory::kSpan), unknown);
  EXPECT_TRUE(json::Parse(json)) << json;
  EXPECT_EQ(json,
            R"({"api":1,"step_seconds":5,"zones":["package","dram"],"points":[{"time":"2023-11-14T22:13:20.000Z",)"
            R"("active_watts":[2,null],"idle_watts":[1,null]}]})"
            "\n");
}

TEST(PowerHistory, TimeOfAPoint_IsTheTimeOfItsSnapshot) {
  PowerHistory history(seconds(5));
  auto slow = At(seconds(10), 2);
  slow.taken_boot += milliseconds(40);  // the scan of the processes came before the meters
  history.Add(slow);
  const auto time = R"("time":")" + series::TimeText(slow.taken_at) + '"';
  EXPECT_THAT(HistoryJson(history.Read(PowerHistory::kSpan), slow), HasSubstr(time));
}

TEST(PowerHistory, OtherZones_BeginAnew) {
  PowerHistory history(seconds(5));
  history.Add(At(seconds(5), 2));
  auto other = At(seconds(10), 2);
  other.zones[0].name = "so\"cket";
  history.Add(other);
  EXPECT_THAT(history.Read(PowerHistory::kSpan).times, ElementsAre(BootTime(seconds(10))));
  EXPECT_THAT(HistoryJson(history.Read(PowerHistory::kSpan), other), HasSubstr(R"(["so\"cket","dram"])"));
}

TEST(PowerHistory, ManyZones_AreBounded) {
  PowerHistory history(seconds(5));
  std::vector<std::string> names;
  names.reserve(20);
  for (int i = 0; i < 20; ++i) names.push_back("zone" + std::to_string(i));
  const auto snapshot = testing::EmptySnapshot(names);
  history.Add(snapshot);
  history.Add(snapshot);
  EXPECT_EQ(history.Read(PowerHistory::kSpan).zones.size(), PowerHistory::kMaxZones);
}

TEST(PowerHistory, NoZone_NoPointThatFails) {
  PowerHistory history(Nanoseconds(0));
  history.Add(testing::EmptySnapshot({}));
  EXPECT_THAT(HistoryJson(history.Read(PowerHistory::kSpan), testing::EmptySnapshot({})), HasSubstr(R"("zones":[])"));
}

}  // namespace
}  // namespace kepler::api
