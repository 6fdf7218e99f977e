#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "export/series/family.h"

namespace kepler::series {
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
          "kepler_vm_cpu_watts", "kepler_pod_cpu_joules_total", "kepler_pod_cpu_watts", "kepler_platform_watts"));
}

TEST(Families, NodeNameLabel_OnOursExceptUpstreamsExceptions) {
  for (const Family& family : Families()) {
    const bool expected = family.name.starts_with("kepler_") && family.name != "kepler_build_info" &&
                          family.name != "kepler_node_cpu_info";
    EXPECT_EQ(std::ranges::count(family.labels, "node_name"), expected ? 1 : 0) << family.name;
  }
}

}  // namespace
}  // namespace kepler::series
