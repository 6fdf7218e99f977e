// Pages with the names of Kepler 0.7, in text and in OpenMetrics. protobuf_page_test.cc compares protobuf with text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/prometheus/render_test_util.h"
#include "export/series/family_table.h"

namespace kepler::prometheus {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// All parts and all kinds of rows.
snapshot::Snapshot Everything() {
  auto s = testing::EmptySnapshot({"package", "core", "dram", "uncore"});
  testing::AddRow(s.processes, testing::Process(42, "a\"b", "/bin/x", "c1"), {Energy::Microjoules(1'000'001)}, {0.5},
                  std::chrono::milliseconds(1500));
  testing::AddRow(s.containers, snapshot::ContainerIdentity{"c1", "web", "docker", "p1", "shop", "default"},
                  {Energy::Joules(3), Energy::Joules(1), Energy::Microjoules(500'000)});
  testing::AddRow(s.vms, snapshot::VmIdentity{"v1", "guest", "kvm"}, {Energy::Joules(4)});
  testing::AddRow(s.pods, snapshot::PodIdentity{"p1", "shop", "default"});
  s.processes.events = s.containers.events = s.vms.events = {{4000, 5000, 60}};
  return s;
}

TEST(LegacyPage, EveryFamily_HasExactlyItsLabels) {
  for (const NameSet names : {NameSet::kV07, NameSet::kBoth}) {
    const std::string text = Text(Everything(), WithNames(names));
    for (const Family& family : LegacyFamilies()) {
      const auto samples = SamplesOf(text, family.name);
      ASSERT_FALSE(samples.empty()) << family.name;
      for (const std::string& sample : samples) {
        size_t at = 0;
        for (const std::string_view label : family.labels) {
          at = sample.find((label == family.labels.front() ? "{" : ",") + std::string(label) + "=\"", at);
          ASSERT_NE(at, std::string::npos) << label << " in " << sample;
        }
        EXPECT_EQ(std::ranges::count(sample, '='), std::ssize(family.labels)) << sample;
      }
    }
  }
}

TEST(LegacyPage, Container_IsASampleByNameOfPodAndNamespace) {
  EXPECT_THAT(Text(Everything(), WithNames(NameSet::kV07)),
              HasSubstr("\nkepler_container_joules_total{container_id=\"c1\",container_name=\"web\","
                        "container_namespace=\"default\",mode=\"dynamic\",node_name=\"n1\",pod_id=\"p1\","
                        "pod_name=\"shop\",runtime=\"docker\",source=\"\"} 3.5\n"));
}

TEST(LegacyPage, OpenMetrics_HasUnitsAndNamesWithoutTotal) {
  const std::string text = Text(Everything(), WithNames(NameSet::kV07), {}, Format::kOpenMetrics100);
  EXPECT_THAT(text, HasSubstr("# TYPE kepler_node_package_joules counter\n# UNIT kepler_node_package_joules joules\n"
                              "kepler_node_package_joules_total{instance=\"n1\",mode=\"dynamic\","));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(LegacyPage, Default_IsUnchanged) {
  const auto s = Full();
  EXPECT_EQ(Text(s, WithNames(NameSet::kV011)), Text(s));
  EXPECT_THAT(FamiliesIn(Text(s)), Not(Contains("kepler_container_joules_total")));
}

TEST(LegacyPage, Both_HasTheFamiliesOfEach) {
  const auto s = Everything();
  const auto both = FamiliesIn(Text(s, WithNames(NameSet::kBoth)));
  EXPECT_THAT(both, IsSupersetOf(FamiliesIn(Text(s))));
  EXPECT_THAT(both, IsSupersetOf(FamiliesIn(Text(s, WithNames(NameSet::kV07)))));
}

TEST(LegacyPage, NoSeries_IsTwiceOnAPage) {
  for (const NameSet names : {NameSet::kV07, NameSet::kBoth}) {
    std::set<std::string> seen;
    for (const std::string& line : Lines(Text(Full(), WithNames(names))))
      EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second || line[0] == '#') << line;
  }
}

TEST(LegacyPage, ExposedSeries_CountsEverySample) {
  for (const NameSet names : {NameSet::kV07, NameSet::kBoth}) {
    const auto lines = Lines(Text(Full(), WithNames(names)));
    const auto samples = std::ranges::count_if(lines, [](const auto& line) { return line[0] != '#'; });
    EXPECT_THAT(lines, Contains("kepler_exposed_series{node_name=\"n1\"} " + std::to_string(samples)));
  }
}

}  // namespace
}  // namespace kepler::prometheus
