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
  for (const series::Family& family : series::Families()) {
    const std::string row = "\n| `" + std::string(family.name) + "` |";
    const size_t first = page.find(row);
    ASSERT_NE(first, std::string::npos) << family.name;
    EXPECT_EQ(page.find(row, first + 1), std::string::npos) << family.name;
  }
}

}  // namespace
}  // namespace kepler::docs
