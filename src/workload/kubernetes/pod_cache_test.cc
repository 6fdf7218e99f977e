#include "workload/kubernetes/pod_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::workload::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;

constexpr BootTime kNow{100s};

Pod MakePod(const std::string& uid, const std::string& name, std::vector<PodContainer> containers = {}) {
  return {.uid = uid, .static_uid = "", .name = name, .name_space = "ns", .containers = std::move(containers)};
}
std::string ContainerOf(const PodMap& map, std::string_view id) {
  const PodMap::Container* const container = map.FindContainer(id);
  return container == nullptr ? "unknown" : std::string(container->name);
}
/// So many pods with a container each.
std::vector<Pod> Many(size_t count) {
  std::vector<Pod> pods;
  for (size_t i = 0; i < count; ++i)
    pods.push_back(MakePod("u" + std::to_string(i), "p" + std::to_string(i), {{"c" + std::to_string(i), "main"}}));
  return pods;
}

TEST(PodCache, TextsAreFitForLabels) {
  PodCache cache;
  cache.Replace({MakePod("u\xff", "a\nb", {{"c", std::string(1000, 'x')}})}, kNow);
  const auto map = cache.Latest(kNow);
  EXPECT_EQ(map->FindPod("u\xEF\xBF\xBD")->name, "a\nb");
  EXPECT_EQ(ContainerOf(*map, "c").size(), 255u);
}

TEST(PodCache, LabelsAndAnnotations_AreAsAPageShowsThem) {
  Pod pod = MakePod("u1", "web"), annotated = MakePod("u2", "db");
  pod.labels = {{"team", "a"}, {"app.kubernetes.io/name", "shop"}};
  pod.annotations = annotated.annotations = {{"example.com/owner", "b"}};
  PodCache cache;
  cache.Replace({pod, annotated, MakePod("u3", "plain")}, kNow);
  const auto map = cache.Latest(kNow);
  EXPECT_THAT(*map->FindPod("u1")->labels,
              ElementsAre(Pair("annotation_example_com_owner", "b"), Pair("label_app_kubernetes_io_name", "shop"),
                          Pair("label_team", "a")));
  EXPECT_THAT(*map->FindPod("u2")->labels, ElementsAre(Pair("annotation_example_com_owner", "b")));
  EXPECT_EQ(map->FindPod("u3")->labels, nullptr);
}

TEST(PodCache, Events_SetChangeAndRemove) {
  PodCache cache;
  ASSERT_TRUE(cache.Set(MakePod("u1", "web")));
  EXPECT_EQ(cache.size(), 1u);
  ASSERT_TRUE(cache.Set(MakePod("u1", "web", {{"c1", "nginx"}})));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(ContainerOf(*cache.Latest(kNow), "c1"), "nginx");
  cache.Remove("u1", kNow);
  cache.Remove("never there", kNow);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(PodCache, NothingNew_IsTheSameMap) {
  PodCache cache;
  cache.Replace({MakePod("u1", "web"), MakePod("u2", "db")}, kNow);
  const auto map = cache.Latest(kNow);
  cache.Replace({MakePod("u2", "db"), MakePod("u1", "web")}, kNow);
  ASSERT_TRUE(cache.Set(MakePod("u1", "web")));
  EXPECT_EQ(cache.Latest(kNow), map);
  ASSERT_TRUE(cache.Set(MakePod("u1", "renamed")));
  const auto renamed = cache.Latest(kNow);
  EXPECT_EQ(renamed->FindPod("u1")->name, "renamed");
  EXPECT_EQ(map->FindPod("u1")->name, "web");
  EXPECT_EQ(renamed->FindPod("u2"), map->FindPod("u2")) << "versions share what has not changed";
}

TEST(PodCache, PodThatIsGone_IsRememberedForAWhile) {
  PodCache cache;
  cache.Replace({MakePod("u1", "web", {{"c1", "nginx"}}), MakePod("u2", "db", {{"c2", "pg"}})}, kNow);
  cache.Replace({MakePod("u2", "db")}, kNow);
  cache.Remove("u2", kNow + 30s);
  EXPECT_EQ(cache.Latest(kNow + PodCache::kMemory)->pods(), 2u);
  const auto later = cache.Latest(kNow + PodCache::kMemory + 1s);
  EXPECT_EQ(later->pods(), 1u);
  EXPECT_EQ(later->FindPod("u2")->name, "db");
  EXPECT_EQ(later->containers(), 0u) << "the second list had none of it";
}

TEST(PodCache, TwentyThousandThatComeAndGo_AreBounded) {
  PodCache cache;
  for (int i = 0; i < 20'000; ++i) {
    const std::string uid = "u" + std::to_string(i);
    ASSERT_TRUE(cache.Set(MakePod(uid, "p", {{"c" + uid, "c"}})));
    cache.Remove(uid, kNow);
  }
  const auto map = cache.Latest(kNow);
  EXPECT_EQ(map->pods(), PodCache::kMaxGone);
  EXPECT_NE(map->FindPod("u19999"), nullptr);
}

TEST(PodCache, MorePodsThanANodeHas_AreRefused) {
  PodCache cache;
  for (size_t i = 0; i < kMaxPods; ++i) ASSERT_TRUE(cache.Set(MakePod("u" + std::to_string(i), "p")));
  EXPECT_FALSE(cache.Set(MakePod("one more", "p")));
  EXPECT_TRUE(cache.Set(MakePod("u7", "known")));
}

TEST(PodCacheCost, BurstOfEvents_IsOneMap) {
  PodCache cache;
  cache.Replace(Many(1'000), kNow);
  for (const Pod& pod : Many(2'000)) ASSERT_TRUE(cache.Set(pod));
  EXPECT_EQ(cache.Latest(kNow)->pods(), 2'000u);
  EXPECT_EQ(cache.mapped(), 2'000u);
}

TEST(PodCacheCost, ListsThatSayTheSame_CostNoMap_WhatIsGoneIncluded) {
  PodCache cache;
  cache.Replace(Many(1'000), kNow);
  cache.Replace(Many(10), kNow + 1s);
  const auto map = cache.Latest(kNow + 1s);
  const uint64_t mapped = cache.mapped();
  for (int poll = 2; poll < 100; ++poll) {
    cache.Replace(Many(10), kNow + poll * 1s);
    EXPECT_EQ(cache.Latest(kNow + poll * 1s), map);
  }
  EXPECT_EQ(cache.mapped(), mapped);
  EXPECT_EQ(cache.Latest(kNow + 1s + PodCache::kMemory + 1s)->pods(), 10u) << "what is gone is forgotten all the same";
}

}  // namespace
}  // namespace kepler::workload::kubernetes
