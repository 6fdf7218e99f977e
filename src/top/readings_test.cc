#include "top/readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kepler::top {
namespace {

using testing::HasSubstr;

constexpr const char* kSnapshot = R"({"api":1,"time":"2026-11-27T22:00:00.000Z","interval_seconds":5.0,"stale":false,
  "agent":{"version":"0.1.0","node":"worker-1","started":"2026-11-27T20:00:00Z"},"later":{"x":[1]},
  "zones":[{"zone":"package","path":"/sys","source":"rapl","watts":40.1,"active_watts":30.0,"idle_watts":10.1,
            "joules":123.456789,"active_joules":100,"idle_joules":23.456789},{"zone":"dram","watts":null}],
  "meters":[{"name":"rapl","state":"in use"},{"name":"hwmon","state":"not used","reason":"no chip"}],
  "workloads":{"level":"pod","zone":"package","total":312,"matching":2,
    "rows":[{"id":"u-1","name":"web","namespace":"shop","running":false,"watts":12.5,"joules":345.678901,
             "cpu_seconds":12.5,"cpu_cores":0.71,"pid":123,"zones":{"package":{"watts":12.5,"joules":345.678901},
             "dram":{"joules":1}}},{"id":"u-2"}],
    "unlisted_joules":1.5,"unattributed_joules":2.5}})";

TEST(Readings, HoldWhatTheAgentSent) {
  const auto got = ReadReadings(kSnapshot);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->time, "2026-11-27T22:00:00.000Z");
  EXPECT_EQ(got->interval_seconds, 5);
  EXPECT_EQ(got->node, "worker-1");
  ASSERT_EQ(got->zones.size(), 2);
  EXPECT_EQ(got->zones[0].idle_watts, 10.1);
  EXPECT_EQ(got->zones[0].joules, 123.456789);
  EXPECT_EQ(got->zones[0].source, "rapl");
  EXPECT_EQ(got->zones[1].source, "") << "of an answer without it";
  EXPECT_EQ(got->zones[1].watts, std::nullopt) << "null is no number";
  EXPECT_EQ(got->meters[1].reason, "no chip");
  EXPECT_EQ(got->matching, 2);
  ASSERT_EQ(got->rows.size(), 2);
  EXPECT_EQ(got->rows[0].name_space, "shop");
  EXPECT_FALSE(got->rows[0].running);
  EXPECT_EQ(got->rows[0].pid, 123);
  ASSERT_EQ(got->rows[0].zones.size(), 2);
  EXPECT_EQ(got->rows[0].zones[1].zone, "dram");
  EXPECT_EQ(got->rows[0].zones[1].watts, std::nullopt);
  EXPECT_TRUE(got->rows[1].running);
  EXPECT_EQ(got->rows[1].pid, std::nullopt);
  EXPECT_EQ(got->unattributed_joules, 2.5);
}

TEST(Readings, AreMalformedWithoutTheVersion) {
  for (const char* text : {R"({"workloads":{}})", R"({"api":2,"workloads":{}})", "[]", "", "1"}) {
    const auto got = ReadReadings(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().kind, ErrorKind::kMalformed) << text;
  }
  EXPECT_THAT(ReadReadings(R"({"api":2,"workloads":{}})").error().message, HasSubstr("another version of the API"));
}

TEST(Readings, MayHaveNoWorkloads) {
  const auto got = ReadReadings(R"({"api":1,"zones":[],"meters":[{"name":"rapl","state":"failed"}]})");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->level, "");
  EXPECT_EQ(got->meters.size(), 1);
  EXPECT_EQ(ReadReadings(R"({"api":1,"workloads":{"rows":[{}]}})")->rows[0].cpu_seconds, std::nullopt);
  EXPECT_FALSE(ReadReadings(R"({"api":1,"workloads":[]})"));
}

TEST(Readings, NameTheValueOfAnotherType) {
  const auto got = ReadReadings(R"({"api":1,"workloads":{"rows":[{"id":"a"},{"watts":"much"}]}})");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::kMalformed);
  EXPECT_THAT(got.error().message, HasSubstr("workloads.rows[1].watts"));
  EXPECT_FALSE(ReadReadings(R"({"api":1,"workloads":{"rows":{}}})"));
  EXPECT_FALSE(ReadReadings(R"({"api":1,"workloads":{"rows":[{"pid":-1}]}})"));
  EXPECT_FALSE(ReadReadings(R"({"api":1,"workloads":{"rows":[{"zones":[1]}]}})"));
}

TEST(Readings, EveryTruncationIsMalformed) {
  const std::string text = kSnapshot;
  for (size_t length = 0; length < text.size(); ++length) {
    const auto got = ReadReadings(std::string_view(text).substr(0, length));
    ASSERT_FALSE(got) << length;
    EXPECT_EQ(got.error().kind, ErrorKind::kMalformed);
  }
}

constexpr const char* kHistory = R"({"api":1,"step_seconds":5,"zones":["package","dram"],"points":[
  {"time":"t","active_watts":[1.5,null],"idle_watts":[2,null]},{"time":"t","active_watts":[3],"idle_watts":[]}]})";

TEST(History, IsTheSumOfActiveAndIdle) {
  const auto got = ReadHistory(kHistory);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->step_seconds, 5);
  ASSERT_EQ(got->zones.size(), 2);
  EXPECT_THAT(got->zones[0].watts, testing::ElementsAre(3.5, 3.0));
  EXPECT_THAT(got->zones[1].watts, testing::ElementsAre(std::nullopt, std::nullopt));
}

TEST(History, MalformedOrTruncatedIsAnError) {
  for (const char* text :
       {R"({"api":1,"points":[]})", R"({"api":1,"zones":[]})", R"({"api":1,"zones":[1],"points":[]})",
        R"({"api":1,"zones":["a"],"points":[{"active_watts":["x"],"idle_watts":[1]}]})",
        R"({"api":1,"zones":["a"],"points":[{"active_watts":[1]}]})"})
    EXPECT_FALSE(ReadHistory(text)) << text;
  const std::string text = kHistory;
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(ReadHistory(std::string_view(text).substr(0, length))) << length;
}

}  // namespace
}  // namespace kepler::top
