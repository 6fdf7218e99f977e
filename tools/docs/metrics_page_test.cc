#include "tools/docs/metrics_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "export/series/family.h"

namespace kepler::docs {
namespace {

TEST(MetricsPage, CheckedInFile_MatchesTable) {
  std::ifstream file(KEPLER_DOCS_DIR "/metrics.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), MetricsPage()) << "run kepler_metrics_docs > docs/metrics.md";
}

TEST(MetricsPage, EveryFamily_Once) {
  const std::string page = MetricsPage();
  const size_t legacy = page.find("\n## Names of Kepler 0.7\n");
  ASSERT_NE(legacy, std::string::npos);
  const auto check = [](const std::string& part, const series::Family& family) {
    const std::string row = "\n| `" + std::string(family.name) + "` |";
    const size_t first = part.find(row);
    ASSERT_NE(first, std::string::npos) << family.name;
    EXPECT_EQ(part.find(row, first + 1), std::string::npos) << family.name;
  };
  for (const series::Family& family : series::Families()) check(page.substr(0, legacy), family);
  for (const series::Family& family : series::Families(series::NameSet::kV07))
    if (family.origin == series::Origin::kLegacy) check(page.substr(legacy), family);
}

}  // namespace
}  // namespace kepler::docs
