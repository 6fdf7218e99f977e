#include "config/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "config/flags.h"
#include "config/schema.h"

namespace kepler::config {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ManPage, FileInDeploy_IsUpToDate) {
  std::ifstream in(KEPLER_MAN_PAGE);
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_THAT(page, HasSubstr("\n.SH OPTIONS\n"));
  EXPECT_EQ(page, WithOptions(page)) << "run: tools/docs.sh";
}

TEST(ManPage, EveryFlag_HasItsEntry) {
  const std::string page = WithOptions(".SH OPTIONS\n");
  const auto dashed = [](std::string text) {
    for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) text.insert(at, "\\");
    return text;
  };
  for (const CommandFlag& flag : CommandFlags()) EXPECT_THAT(page, HasSubstr(dashed("--" + std::string(flag.name))));
  for (const Key& key : Keys()) EXPECT_THAT(page, HasSubstr(dashed(std::string(key.flag))));
  EXPECT_THAT(page, HasSubstr(".TP\n.B \\-\\-[no\\-]kube.enable\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n.BI \\-\\-activity.source= auto|bpf|procfs\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n.BI \\-\\-monitor.interval= DURATION\n"));
}

TEST(ManPage, OtherSections_StayAsTheyAre) {
  const std::string page = WithOptions(".TH X\n.SH OPTIONS\nold\n.SH FILES\nmine\n");
  EXPECT_THAT(page, StartsWith(".TH X\n.SH OPTIONS\n"));
  EXPECT_THAT(page, EndsWith(".SH FILES\nmine\n"));
  EXPECT_EQ(page.find("\nold\n"), std::string::npos);
  EXPECT_EQ(WithOptions(".TH X\n"), ".TH X\n");
}

}  // namespace
}  // namespace kepler::config
