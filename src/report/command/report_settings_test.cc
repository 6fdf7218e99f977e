#include "report/command/report_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

namespace kepler::report::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

settings::Parsed<ReportOptions> ParseReport(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "kepler report");
  constexpr WallTime kNow{std::chrono::seconds(1'800'000'000)};
  return ParseReportOptions(std::move(arguments), {}, kNow);
}

TEST(ReportSettings, ZonesAreListsAndRepeatedFlags) {
  EXPECT_THAT(ParseReport({"file"}).config.zones, IsEmpty());
  const auto parsed = ParseReport({"--zone=package, dram", "--zone", "gpu", "file"});
  ASSERT_EQ(parsed.action, settings::Action::kRun) << parsed.text;
  EXPECT_THAT(parsed.config.zones, ElementsAre("package", "dram", "gpu"));
  EXPECT_THAT(parsed.config.files, ElementsAre("file"));
}

TEST(ReportSettings, RefuseListsThatMakeNoSense) {
  for (const auto& [flag, reason] :
       {std::pair("--zone=package,", "zone: has an empty item"), std::pair("--zone=,", "has an empty item"),
        std::pair("--zone=", "has an empty item"), std::pair("--zone=package,core", "overlap"),
        std::pair("--zone=a,b,a", "'a' is named twice"), std::pair("--zone=a,b,c,d,e,f,g,h,i", "more than 8 items")}) {
    const auto parsed = ParseReport({flag, "file"});
    EXPECT_EQ(parsed.action, settings::Action::kReject) << flag;
    EXPECT_THAT(parsed.text, AllOf(StartsWith("kepler report: error: --zone: "), HasSubstr(reason)));
    EXPECT_EQ(std::ranges::count(parsed.text, '\n'), 1) << parsed.text;
  }
}

TEST(ReportSettings, PeriodAndPrices) {
  const auto config = ParseReport({"--from=24h", "--to=1799999000", "--price=0.3", "--carbon=380", "file"}).config;
  EXPECT_EQ(config.begin, report::Milliseconds(std::chrono::seconds(1'800'000'000 - 86'400)));
  EXPECT_EQ(config.end, report::Milliseconds(std::chrono::seconds(1'799'999'000)));
  EXPECT_EQ(config.price_per_kwh, 0.3);
  EXPECT_FALSE(std::signbit(ParseReport({"--price=-0", "file"}).config.price_per_kwh.value_or(-1)));
  EXPECT_EQ(config.grams_per_kwh, 380);
  EXPECT_EQ(ParseReport({"--carbon=series.csv", "file"}).config.grams_per_kwh, std::nullopt);
}

TEST(ReportSettings, InvalidValues_AreInvalidFlags) {
  for (const auto& [flag, reason] :
       {std::pair("--from=then", "--from: must be a time like 2026"), std::pair("--from=2027", "a year or a day alone"),
        std::pair("--to=-1s", "--to: -1s: a duration counts back from now; write it without the minus sign"),
        std::pair("--price=-1", "--price: must be a number from 0 to 1000000000"),
        std::pair("--price=1000000001", "--price: must be a number from 0 to 1000000000"),
        std::pair("--price=cheap", "--price: must be a number from 0 to 1000000000"),
        std::pair("--price=0,30", "the decimal sign is a point, so write 0.30"),
        std::pair("--carbon=380,5", "the decimal sign is a point, so write 380.5"),
        std::pair("--carbon=100001", "--carbon: must be a file, or a number of grams from 0 to 100000")}) {
    const auto parsed = ParseReport({flag, "file"});
    EXPECT_EQ(parsed.action, settings::Action::kReject) << flag;
    EXPECT_THAT(parsed.text, HasSubstr(reason));
    EXPECT_EQ(std::ranges::count(parsed.text, '\n'), 1) << parsed.text;
  }
  EXPECT_THAT(ParseReport({"--from=1h", "--to=2h", "file"}).text, HasSubstr("--from: must be before --to"));
  EXPECT_THAT(ParseReport({"--prometheus=http://a", "--from=1900000000"}).text,
              HasSubstr("--from: must be before now"));
}

/// A variable that a script did not set.
TEST(ReportSettings, RefuseAnEmptyPrice) {
  for (const auto& [flag, example] : {std::pair("--price=", "such as 0.30"), std::pair("--carbon=", "such as 380")}) {
    const auto parsed = ParseReport({flag, "file"});
    EXPECT_EQ(parsed.action, settings::Action::kReject) << flag;
    EXPECT_THAT(parsed.text, AllOf(HasSubstr("is empty; write "), HasSubstr(example)));
  }
}

}  // namespace
}  // namespace kepler::report::command
