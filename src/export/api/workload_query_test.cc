#include "export/api/workload_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "export/series/family.h"

namespace kepler::api {
namespace {

using snapshot::Level;
using ::testing::HasSubstr;

Query Parsed(std::string_view text, uint32_t gates = series::kAllLevels) {
  const auto query = ParseQuery(text, gates);
  EXPECT_TRUE(query) << query.error().message;
  return query.value_or(Query{});
}

std::string Refused(std::string_view text, uint32_t gates = series::kAllLevels) {
  const auto query = ParseQuery(text, gates);
  EXPECT_FALSE(query) << text;
  if (query) return "";
  EXPECT_EQ(query.error().kind, ErrorKind::kInvalid);
  return query.error().message;
}

TEST(ParseQuery, Defaults) {
  EXPECT_EQ(Parsed(""), (Query{.level = Level::kProcess, .sort = Sort::kWatts, .limit = kDefaultRows, .search = ""}));
  EXPECT_EQ(Parsed("&other=1&search="), Parsed(""));
}

TEST(ParseQuery, EveryParameter) {
  EXPECT_EQ(
      Parsed("level=pod&sort=joules&limit=1000&search=a%20B+c&under=kube-system"),
      (Query{
          .level = Level::kPod, .sort = Sort::kJoules, .limit = kMaxRows, .search = "a B c", .under = "kube-system"}));
  for (const Level level : AllLevels())
    EXPECT_EQ(Parsed("level=" + std::string(snapshot::ToString(level))).level, level);
  EXPECT_EQ(Parsed("sort=cpu").sort, Sort::kCpu);
}

TEST(ParseQuery, BadValues_AreNamedWithTheAllowedOnes) {
  EXPECT_EQ(Refused("level=pods"),
            "parameter level: \"pods\" is invalid; allowed values: process, container, pod, vm, namespace");
  EXPECT_THAT(Refused("level="), HasSubstr("process"));
  EXPECT_THAT(Refused("level=owner"), HasSubstr("parameter level"));
  EXPECT_EQ(Refused("sort=WATTS"), "parameter sort: \"WATTS\" is invalid; allowed values: watts, joules, cpu");
  for (const char* limit : {"", "0", "1001", "-1", "1e3", "99999999999999999999999", "50x", "+5"})
    EXPECT_THAT(Refused(std::string("limit=") + limit), HasSubstr("allowed values: 1 to 1000"));
  EXPECT_THAT(Refused("search=" + std::string(kMaxSearch + 1, 'a')), HasSubstr("parameter search"));
  EXPECT_THAT(Refused("under=" + std::string(kMaxUnder + 1, 'a')), HasSubstr("parameter under"));
  EXPECT_THAT(Refused("x=%4"), HasSubstr("hexadecimal"));
  EXPECT_EQ(Parsed("search=" + std::string(kMaxSearch, 'a')).search.size(), kMaxSearch);
}

TEST(ParseQuery, BadBytesAreNotRepeatedRaw) {
  EXPECT_THAT(Refused("level=%1b%5B31m%ff"), HasSubstr("\\x1b[31m\xEF\xBF\xBD"));
  EXPECT_LT(Refused("level=" + std::string(10'000, 'a')).size(), 300u);
}

TEST(ParseQuery, OnlyLevelsOfTheMetrics) {
  EXPECT_EQ(Parsed("", series::kVm | series::kPod).level, Level::kPod);
  EXPECT_EQ(Parsed("level=namespace", series::kPod).level, Level::kNamespace);
  EXPECT_THAT(Refused("level=process", series::kVm), HasSubstr("allowed values: vm"));
  EXPECT_FALSE(IsShown(Parsed("", series::kNode).level, series::kNode));
  EXPECT_THAT(Refused("level=process", series::kNode), HasSubstr("exporter.prometheus.metricsLevel"));
}

}  // namespace
}  // namespace kepler::api
