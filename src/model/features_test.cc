#include "model/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace kepler::model {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Columns = std::set<std::string, std::less<>>;

auto In(const Columns& columns) {
  return [&columns](std::string_view name) { return columns.contains(name); };
}

const Columns kRecorded = {"bpf_cpu_time_ms", "cache_miss", "cpu_cycles", "cpu_instructions"};

TEST(GrowsWithCores, CountersDo) {
  for (const std::string_view feature : {"bpf_cpu_time_ms", "cpu_cycles", "bpf_net_rx_irq", "my_column"})
    EXPECT_TRUE(GrowsWithCores(feature)) << feature;
  for (const std::string_view feature : {"cores", "memory_gib", "frequency_mhz", "cpu_scaling_frequency_hertz"})
    EXPECT_FALSE(GrowsWithCores(feature)) << feature;
}

TEST(CanonicalFeature, OfBothAges) {
  EXPECT_EQ(CanonicalFeature("bpf_cpu_time_us"), "bpf_cpu_time_ms");
  EXPECT_EQ(CanonicalFeature("bpf_cpu_time_ms"), "bpf_cpu_time_ms");
  EXPECT_EQ(CanonicalFeature("my_column"), "my_column");
}

TEST(FeatureGroups, SortedUniqueCanonicalAndFewEnough) {
  for (const auto& group : FeatureGroups()) {
    EXPECT_LE(group.features.size(), kMaxFeatures);
    EXPECT_TRUE(std::ranges::is_sorted(group.features)) << group.name;
    EXPECT_EQ(std::ranges::adjacent_find(group.features), group.features.end()) << group.name;
    for (const auto feature : group.features) EXPECT_EQ(CanonicalFeature(feature), feature);
  }
}

// The model server fits curves to the feature at a fixed place in each group: that place says how the group is sorted.
TEST(FeatureGroups, MainFeaturesStandWhereTheModelServerHasThem) {
  const auto at = [](std::string_view name, size_t place) { return FindFeatureGroup(name)->features[place]; };
  for (const auto name : {"Full", "WorkloadOnly"}) {
    EXPECT_EQ(at(name, 8), "cpu_instructions");
    EXPECT_EQ(at(name, 6), "cache_miss");
  }
  EXPECT_EQ(at("CounterIRQCombined", 5), "cpu_instructions");
  EXPECT_EQ(at("CounterIRQCombined", 3), "cache_miss");
  EXPECT_EQ(at("Basic", 4), "cpu_instructions");
  EXPECT_EQ(at("Basic", 2), "cache_miss");
  EXPECT_EQ(at("BPFIRQ", 1), "bpf_cpu_time_ms");
  EXPECT_EQ(at("BPFIRQ", 4), "bpf_page_cache_hit");
  EXPECT_THAT(FindFeatureGroup("BPFOnly")->features, ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit"));
  EXPECT_THAT(FindFeatureGroup("CounterOnly")->features, ElementsAre("cache_miss", "cpu_cycles", "cpu_instructions"));
  EXPECT_THAT(FindFeatureGroup("AcceleratorOnly")->features, ElementsAre("accelerator_intel_qat"));
  EXPECT_THAT(FindFeatureGroup("Full")->features, SizeIs(11));
}

TEST(FindFeatureGroup, ExactNamesOnly) {
  EXPECT_EQ(FindFeatureGroup("counteronly"), nullptr);
  EXPECT_EQ(FindFeatureGroup(""), nullptr);
  EXPECT_NE(FindFeatureGroup("KubeletOnly"), nullptr);
}

TEST(ResolveGroup, WhatKepler07MeansWhereAllIsThere) {
  auto columns = kRecorded;
  columns.insert("bpf_page_cache_hit");
  EXPECT_THAT(*ResolveGroup("Basic", In(columns)), SizeIs(5));
  EXPECT_THAT(*ResolveGroup("Basic07", In(columns)), SizeIs(5));
  EXPECT_THAT(*ResolveGroup("BPFOnly", In(columns)), ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit"));
}

TEST(ResolveGroup, WithoutPageCacheWhereThatIsMissing) {
  EXPECT_THAT(*ResolveGroup("BPFOnly", In(kRecorded)), ElementsAre("bpf_cpu_time_ms"));
  const auto with_counters = ElementsAre("bpf_cpu_time_ms", "cache_miss", "cpu_cycles", "cpu_instructions");
  EXPECT_THAT(*ResolveGroup("Basic", In(kRecorded)), with_counters);
  EXPECT_THAT(*ResolveGroup("Basic07", In(kRecorded)), with_counters);
}

TEST(ResolveGroup, BasicOfKepler06) {
  auto columns = kRecorded;
  for (const auto name : {"CgroupOnly", "KubeletOnly"})
    for (const auto feature : FindFeatureGroup(name)->features) columns.emplace(feature);
  EXPECT_THAT(*ResolveGroup("Basic", In(columns)), SizeIs(10));
  EXPECT_THAT(*ResolveGroup("Basic07", In(columns)), SizeIs(4));
}

TEST(ResolveGroup, Missing_SaysWhatTheNearestRowLacks) {
  const auto missing = ResolveGroup("BPFIRQ", In(kRecorded));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr("BPFIRQ"), HasSubstr("bpf_block_irq, bpf_net_rx_irq, bpf_net_tx_irq"),
                    Not(HasSubstr("bpf_page_cache_hit"))));
}

TEST(ResolveGroup, Unknown_NearestName) {
  const auto unknown = ResolveGroup("CounterOnyl", In(kRecorded));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("CounterOnly"));
}

TEST(GroupNameOf, AnyOrderAndAge) {
  const auto name_of = [](std::vector<std::string> features) { return std::string(GroupNameOf(features)); };
  EXPECT_EQ(name_of({"cpu_instructions", "cache_miss", "cpu_cycles"}), "CounterOnly");
  EXPECT_EQ(name_of({"bpf_cpu_time_us"}), "BPFOnly");
  EXPECT_EQ(name_of({"bpf_page_cache_hit", "bpf_cpu_time_ms"}), "BPFOnly");
  EXPECT_EQ(name_of({"cache_miss", "cpu_cycles", "cpu_instructions", "bpf_cpu_time_us"}), "Basic07");
  EXPECT_EQ(name_of({"cache_miss", "cpu_cycles"}), "custom");
  EXPECT_EQ(name_of({"cache_miss", "cache_miss", "cpu_cycles", "cpu_instructions"}), "custom");
  EXPECT_EQ(name_of({}), "custom");
}

}  // namespace
}  // namespace kepler::model
