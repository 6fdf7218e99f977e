#include "export/prometheus/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "export/prometheus/metrics_page.h"

namespace kepler::prometheus {
namespace {

TEST(Families, Names_UniqueInBothFormats) {
  std::set<std::string_view> names;
  for (const Family& family : Families()) {
    EXPECT_TRUE(names.insert(BaseName(family)).second) << family.name;
    if (family.name != BaseName(family)) {
      EXPECT_TRUE(names.insert(family.name).second) << family.name;
    }
  }
}

TEST(Families, UpstreamCatalogue_Complete) {
  std::set<std::string_view> upstream;
  for (const Family& family : Families())
    if (family.origin == Origin::kUpstream) upstream.insert(family.name);
  EXPECT_THAT(
      upstream,
      ::testing::UnorderedElementsAre(
          "kepler_build_info", "kepler_node_cpu_info", "kepler_node_cpu_usage_ratio", "kepler_node_cpu_joules_total",
          "kepler_node_cpu_watts", "kepler_node_cpu_active_joules_total", "kepler_node_cpu_active_watts",
          "kepler_node_cpu_idle_joules_total", "kepler_node_cpu_idle_watts", "kepler_process_cpu_joules_total",
          "kepler_process_cpu_watts", "kepler_process_cpu_seconds_total", "kepler_container_cpu_joules_total",
          "kepler_container_cpu_watts", "kepler_container_cpu_seconds_total", "kepler_vm_cpu_joules_total",
          "kepler_vm_cpu_watts", "kepler_pod_cpu_joules_total", "kepler_pod_cpu_watts"));
}

TEST(Families, NodeNameLabel_OnOursExceptUpstreamsExceptions) {
  for (const Family& family : Families()) {
    const bool expected = family.name.starts_with("kepler_") && family.name != "kepler_build_info" &&
                          family.name != "kepler_node_cpu_info";
    EXPECT_EQ(std::ranges::count(family.labels, "node_name"), expected ? 1 : 0) << family.name;
  }
}

TEST(MetricsPage, CheckedInFile_MatchesTable) {
  std::ifstream file(KEPLER_SOURCE_DIR "/docs/metrics.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), MetricsPage()) << "run kepler_metrics_docs > docs/metrics.md";
}

TEST(MetricsPage, EveryFamily_Once) {
  const std::string page = MetricsPage();
  for (const Family& family : Families()) {
    const std::string row = "\n| `" + std::string(family.name) + "` |";
    const size_t first = page.find(row);
    ASSERT_NE(first, std::string::npos) << family.name;
    EXPECT_EQ(page.find(row, first + 1), std::string::npos) << family.name;
  }
}

}  // namespace
}  // namespace kepler::prometheus
