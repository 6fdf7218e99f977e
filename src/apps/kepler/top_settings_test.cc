#include "apps/kepler/top_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

settings::Parsed<TopSettings> Parse(const std::vector<const char*>& arguments) {
  return ParseTopSettings(arguments, {});
}

TEST(TopSettings, HaveDefaults) {
  const auto parsed = Parse({});
  EXPECT_EQ(parsed.action, settings::Action::kRun);
  EXPECT_EQ(parsed.config.url, "");
  EXPECT_EQ(parsed.config.level, top::Level::kProcess);
}

TEST(TopSettings, ComeFromFlags) {
  const auto parsed = Parse(
      {"--level=pod", "--sort=joules", "--price=0.3", "--carbon=380.5", "--interval=500ms", "--once", "--limit=7"});
  ASSERT_EQ(parsed.action, settings::Action::kRun) << parsed.text;
  EXPECT_EQ(parsed.config.level, top::Level::kPod);
  EXPECT_EQ(parsed.config.sort, top::Sort::kJoules);
  EXPECT_EQ(parsed.config.price, 0.3);
  EXPECT_EQ(parsed.config.carbon, 380.5);
  EXPECT_EQ(parsed.config.interval, std::chrono::milliseconds(500));
  EXPECT_EQ(parsed.config.limit, 7);
}

TEST(TopSettings, RefuseWhatMakesNoSense) {
  for (const auto& [flag, reason] :
       {std::pair("--url=ftp://x", "url"), std::pair("--user=me", "password-file: is missing"),
        std::pair("--key-file=/k", "cert-file: is missing"), std::pair("--level=core", "level"),
        std::pair("--interval=1ms", "interval"), std::pair("--price=-1", "price"),
        std::pair("--price=1000000001", "price"), std::pair("--carbon=100001", "carbon"),
        std::pair("--limit=0", "limit"), std::pair("--colour", "--colour")}) {
    const auto parsed = Parse({flag});
    EXPECT_EQ(parsed.exit_code, 1) << flag;
    EXPECT_THAT(parsed.text, AllOf(StartsWith("kepler top: error: "), HasSubstr(reason)));
  }
}

TEST(TopSettings, HaveTheirOwnHelp) {
  const std::string help = Parse({"--help"}).text;
  EXPECT_THAT(help, HasSubstr("usage: kepler top [<flags>]"));
  EXPECT_THAT(help, HasSubstr("--config.file"));
  EXPECT_THAT(help, AllOf(Not(HasSubstr("required)")), Not(HasSubstr("--config.print"))));
}

}  // namespace
}  // namespace kepler::agent
