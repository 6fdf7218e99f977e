#include "workload/kubernetes/pod_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

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
/// `count` pods with a container each.
std::vector<Pod> Many(size_t count) {
  std::vector<Pod> pods;
  for (size_t i = 0; i < count; ++i)
    pods.push_back(MakePod("u" + std::to_string(i), "p" + std::to_string(i), {{"c" + std::to_string(i), "main"}}));
  return pods;
}

TEST(PodCache, TextsAreFitForLabels) {
  PodCache cache;
  EXPECT_FALSE(cache.Replace({MakePod("u\xff", "a\nb", {{"c", std::string(1000, 'x')}})}, kNow).any());
  const auto map = cache.Latest(kNow);
  EXPECT_EQ(map->FindPod("u\xEF\xBF\xBD")->name, "a\nb");
  EXPECT_EQ(ContainerOf(*map, "c").size(), 255u);
}

TEST(PodCache, LabelsAndAnnotations_AreAsAPageShowsThem) {
  Pod pod = MakePod("u1", "web"), annotated = MakePod("u2", "db");
  pod.labels = {{"team", "a"}, {"app.kubernetes.io/name", "shop"}};
  pod.annotations = annotated.annotations = {{"example.com/owner", "b"}};
  PodCache cache;
  EXPECT_FALSE(cache.Replace({pod, annotated, MakePod("u3", "plain")}, kNow).any());
  const auto map = cache.Latest(kNow);
  EXPECT_THAT(*map->FindPod("u1")->labels,
              ElementsAre(Pair("annotation_example_com_owner", "b"), Pair("label_app_kubernetes_io_name", "shop"),
                          Pair("label_team", "a")));
  EXPECT_THAT(*map->FindPod("u2")->labels, ElementsAre(Pair("annotation_example_com_owner", "b")));
  EXPECT_EQ(map->FindPod("u3")->labels, nullptr);
}

TEST(PodCache, Events_SetChangeAndRemove) {
  PodCache cache;
  EXPECT_FALSE(cache.Set(MakePod("u1", "web")).any());
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_FALSE(cache.Set(MakePod("u1", "web", {{"c1", "nginx"}})).any());
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(ContainerOf(*cache.Latest(kNow), "c1"), "nginx");
  cache.Remove("u1", kNow);
  cache.Remove("never there", kNow);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(PodCache, NothingNew_IsTheSameMap) {
  PodCache cache;
  EXPECT_FALSE(cache.Replace({MakePod("u1", "web"), MakePod("u2", "db")}, kNow).any());
  const auto map = cache.Latest(kNow);
  EXPECT_FALSE(cache.Replace({MakePod("u2", "db"), MakePod("u1", "web")}, kNow).any());
  EXPECT_FALSE(cache.Set(MakePod("u1", "web")).any());
  EXPECT_EQ(cache.Latest(kNow), map);
  EXPECT_FALSE(cache.Set(MakePod("u1", "renamed")).any());
  const auto renamed = cache.Latest(kNow);
  EXPECT_EQ(renamed->FindPod("u1")->name, "renamed");
  EXPECT_EQ(map->FindPod("u1")->name, "web");
  EXPECT_EQ(renamed->FindPod("u2"), map->FindPod("u2")) << "versions share what has not changed";
}

TEST(PodCache, PodThatIsGone_IsRememberedForAWhile) {
  PodCache cache;
  EXPECT_FALSE(
      cache.Replace({MakePod("u1", "web", {{"c1", "nginx"}}), MakePod("u2", "db", {{"c2", "pg"}})}, kNow).any());
  EXPECT_FALSE(cache.Replace({MakePod("u2", "db")}, kNow).any());
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
    EXPECT_FALSE(cache.Set(MakePod(uid, "p", {{"c" + uid, "c"}})).any());
    cache.Remove(uid, kNow);
  }
  const auto map = cache.Latest(kNow);
  EXPECT_EQ(map->pods(), PodCache::kMaxGone);
  EXPECT_NE(map->FindPod("u19999"), nullptr);
}

TEST(PodCache, AnotherThreadTakesMaps_WhileListsAndEventsCome) {
  PodCache cache;
  std::atomic<bool> done = false;
  std::thread tick([&] {
    while (!done) EXPECT_LE(cache.Latest(kNow)->pods(), 120u + PodCache::kMaxGone);
  });
  for (size_t round = 0; round < 100; ++round) {
    EXPECT_FALSE(cache.Replace(Many(100 + round % 3), kNow).any());
    EXPECT_FALSE(cache.Set(MakePod("u5", "p" + std::to_string(round))).any());
    cache.Remove("u6", kNow);
  }
  done = true;
  tick.join();
  EXPECT_EQ(cache.Latest(kNow)->FindPod("u5")->name, "p99");
}

/// Memory of Many(count).
size_t BytesOf(size_t count) {
  PodCache cache;
  static_cast<void>(cache.Replace(Many(count), kNow));
  return cache.bytes();
}

TEST(PodCacheBudget, ListAboveIt_WhatFitsStays) {
  PodCache cache(BytesOf(100));
  EXPECT_EQ(cache.Replace(Many(110), kNow), (LeftOut{.pods = 10, .containers = 10}));
  EXPECT_EQ(cache.size(), 100u);
  EXPECT_EQ(cache.bytes(), BytesOf(100));
  EXPECT_EQ(cache.Latest(kNow)->pods(), 100u);
}

TEST(PodCacheBudget, ListInAnotherOrder_FirstPodsStay_AndAKnownOneGoes) {
  PodCache cache(BytesOf(100));
  EXPECT_FALSE(cache.Replace(Many(100), kNow).any());
  auto pods = Many(100);
  pods.insert(pods.begin(), MakePod("new", "p", {{"new-container", "main"}}));
  EXPECT_EQ(cache.Replace(std::move(pods), kNow), (LeftOut{.pods = 1, .containers = 1}));
  EXPECT_EQ(cache.size(), 100u);
  EXPECT_NE(cache.Latest(kNow)->FindPod("new"), nullptr);
  const BootTime later = kNow + PodCache::kMemory + 1s;
  EXPECT_EQ(cache.Latest(later)->FindPod("u99"), nullptr) << "remembered for a while, as any that is gone";
}

TEST(PodCacheBudget, EventAboveIt_KeepsWhatWasKnown) {
  PodCache cache(BytesOf(100));
  EXPECT_FALSE(cache.Replace(Many(100), kNow).any());
  EXPECT_EQ(cache.Set(MakePod("one more", "p", {{"c", "x"}, {"d", "y"}})), (LeftOut{.pods = 1, .containers = 2}));
  EXPECT_EQ(cache.Set(MakePod("u7", "renamed", {{"c7", "main"}, {"d7", "another"}})), (LeftOut{.containers = 2}));
  EXPECT_EQ(cache.Latest(kNow)->FindPod("u7")->name, "p7");
  EXPECT_FALSE(cache.Set(MakePod("u7", "renamed", {{"c7", "main"}})).any()) << "it needs no more than before";
  EXPECT_EQ(cache.Latest(kNow)->FindPod("u7")->name, "renamed");
  cache.Remove("u8", kNow);
  EXPECT_FALSE(cache.Set(MakePod("u9-2", "p", {{"c", "x"}})).any()) << "there is room again";
}

TEST(PodCacheBudget, PodsThatAreGone_TakeTheirPartOnly) {
  const size_t bytes = BytesOf(800);
  PodCache cache(bytes);
  EXPECT_FALSE(cache.Replace(Many(800), kNow).any());
  EXPECT_FALSE(cache.Replace({}, kNow).any());
  EXPECT_LE(cache.bytes(), bytes / PodCache::kGonePart);
  EXPECT_GT(cache.bytes(), 0u);
  static_cast<void>(cache.Latest(kNow + PodCache::kMemory + 1s));
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(PodCacheBudget, AnythingThatHappens_ItsSumIsThatOfThePods) {
  PodCache cache(BytesOf(50));
  for (size_t round = 0; round < 200; ++round) {
    const std::string uid = "u" + std::to_string(round * 7 % 60);
    static_cast<void>(cache.Set(MakePod(uid, std::string(round % 40, 'n'), {{"c" + uid, "main"}})));
    if (round % 3 == 0) cache.Remove("u" + std::to_string(round % 60), kNow);
    if (round % 50 == 49) static_cast<void>(cache.Replace(Many(30 + round % 30), kNow));
    ASSERT_LE(cache.bytes(), BytesOf(50) + BytesOf(50) / PodCache::kGonePart);
  }
  static_cast<void>(cache.Replace({}, kNow));
  static_cast<void>(cache.Latest(kNow + PodCache::kMemory + 1s));
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(NameBytesFor, ASixteenthOfTheMemory_WithinLimits) {
  EXPECT_EQ(NameBytesFor(uint64_t{512} << 20), size_t{32} << 20);
  EXPECT_EQ(NameBytesFor(uint64_t{64} << 20), size_t{4} << 20);
  EXPECT_EQ(NameBytesFor(0), size_t{1} << 20);
  EXPECT_EQ(NameBytesFor(UINT64_MAX), size_t{32} << 20);
  EXPECT_EQ(NameBytesFor(std::nullopt), size_t{32} << 20);
}

TEST(PodCacheCost, BurstOfEvents_IsOneMap) {
  PodCache cache;
  EXPECT_FALSE(cache.Replace(Many(1'000), kNow).any());
  for (const Pod& pod : Many(2'000)) EXPECT_FALSE(cache.Set(pod).any());
  EXPECT_EQ(cache.Latest(kNow)->pods(), 2'000u);
  EXPECT_EQ(cache.mapped(), 2'000u);
}

TEST(PodCacheCost, ListsThatSayTheSame_CostNoMap_WhatIsGoneIncluded) {
  PodCache cache;
  EXPECT_FALSE(cache.Replace(Many(1'000), kNow).any());
  EXPECT_FALSE(cache.Replace(Many(10), kNow + 1s).any());
  const auto map = cache.Latest(kNow + 1s);
  const uint64_t mapped = cache.mapped();
  for (int poll = 2; poll < 100; ++poll) {
    EXPECT_FALSE(cache.Replace(Many(10), kNow + poll * 1s).any());
    EXPECT_EQ(cache.Latest(kNow + poll * 1s), map);
  }
  EXPECT_EQ(cache.mapped(), mapped);
  EXPECT_EQ(cache.Latest(kNow + 1s + PodCache::kMemory + 1s)->pods(), 10u) << "what is gone is forgotten all the same";
}

}  // namespace
}  // namespace kepler::workload::kubernetes
