#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "apps/kepler/config.h"
#include "settings/flags.h"
#include "tools/docs/configuration_page.h"
#include "tools/docs/man_page.h"

namespace kepler::docs {
namespace {

using agent::kTable;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ManPage, FileInDeploy_IsUpToDate) {
  std::ifstream in(KEPLER_MAN_PAGE);
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_THAT(page, HasSubstr("\n.SH OPTIONS\n"));
  EXPECT_EQ(page, WithOptions(page, kTable.keys)) << "run: tools/docs.sh";
}

TEST(ManPage, EveryFlag_HasItsEntry) {
  const std::string page = WithOptions(".SH OPTIONS\n", kTable.keys);
  const auto dashed = [](std::string text) {
    for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 2)) text.insert(at, "\\");
    return text;
  };
  for (const settings::CommandFlag& flag : settings::CommandFlags())
    EXPECT_THAT(page, HasSubstr(dashed("--" + std::string(flag.name))));
  for (const settings::Key& key : kTable.keys) {
    if (settings::IsForDevelopment(key)) continue;
    EXPECT_THAT(page, HasSubstr(dashed(std::string(key.flag))));
  }
  EXPECT_THAT(page, HasSubstr(".TP\n.B \\-\\-[no\\-]kube.enable\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n.BI \\-\\-activity.source= auto|bpf|procfs\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n.BI \\-\\-monitor.interval= DURATION\n"));
}

TEST(ManPage, OtherSections_StayAsTheyAre) {
  const std::string page = WithOptions(".TH X\n.SH OPTIONS\nold\n.SH FILES\nmine\n", kTable.keys);
  EXPECT_THAT(page, StartsWith(".TH X\n.SH OPTIONS\n"));
  EXPECT_THAT(page, EndsWith(".SH FILES\nmine\n"));
  EXPECT_EQ(page.find("\nold\n"), std::string::npos);
  EXPECT_EQ(WithOptions(".TH X\n", kTable.keys), ".TH X\n");
}

TEST(ConfigurationPage, FileInDocs_IsUpToDate) {
  std::ifstream in(KEPLER_DOCS_DIR "/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, ConfigurationPage(kTable.Of({}))) << "run: kepler_config_docs > docs/configuration.md";
}

TEST(ConfigurationPage, EveryKeyAndFlag_IsListed) {
  const std::string text = ConfigurationPage(kTable.Of({}));
  for (const settings::Key& key : kTable.keys) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(key.path) + "` |"));
    if (key.flag.empty()) continue;
    EXPECT_THAT(text, HasSubstr(std::string(key.flag) + "`"));
  }
}

}  // namespace
}  // namespace kepler::docs
