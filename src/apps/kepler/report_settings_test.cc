#include "apps/kepler/report_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kepler::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

settings::Parsed<ReportOptions> ParseReport(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "kepler report");
  return ParseReportOptions(std::move(arguments), {});
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
        std::pair("--zone=package,core", "overlap"), std::pair("--zone=a,b,a", "'a' is named twice"),
        std::pair("--zone=a,b,c,d,e,f,g,h,i", "more than 8 items")}) {
    const auto parsed = ParseReport({flag, "file"});
    EXPECT_EQ(parsed.action, settings::Action::kReject) << flag;
    EXPECT_THAT(parsed.text, AllOf(StartsWith("kepler report: error: --zone: "), HasSubstr(reason)));
    EXPECT_EQ(std::ranges::count(parsed.text, '\n'), 1) << parsed.text;
  }
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
}  // namespace kepler::agent
