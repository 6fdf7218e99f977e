#include "workload/kubernetes/pod_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::workload::kubernetes {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr BootTime kNow{100s};

Pod MakePod(const std::string& uid, const std::string& name, std::vector<PodContainer> containers = {}) {
  return {.uid = uid, .static_uid = "", .name = name, .name_space = "ns", .containers = std::move(containers)};
}
std::shared_ptr<const PodMap> MapOf(const std::vector<Pod>& pods) {
  PodCache cache;
  cache.Replace(pods, kNow);
  return cache.MakeMap(kNow);
}

TEST(PodCache, PodsAndContainersByWhatTheirCgroupsShow) {
  const auto map = MapOf({MakePod("u1", "web", {{"c1", "nginx"}, {"c2", "sidecar"}}), MakePod("u2", "db")});
  EXPECT_EQ(map->pods.at("u1").name, "web");
  EXPECT_EQ(map->pods.at("u1").name_space, "ns");
  EXPECT_EQ(map->pods.at("u2").name, "db");
  EXPECT_THAT(map->container_names, UnorderedElementsAre(Pair("c1", "nginx"), Pair("c2", "sidecar")));
}

TEST(PodCache, RequestsOfContainers_OfNoneWhereTwoPodsDisagree) {
  const ContainerRequests half{.cpu_millis = 500};
  const auto map = MapOf({MakePod("u1", "web", {{"c1", "nginx", half}, {"c2", "sidecar"}, {"c3", "x", half}}),
                          MakePod("u2", "db", {{"c3", "x"}, {"c4", "db", {.memory_kib = 1}}})});
  EXPECT_THAT(map->container_requests,
              UnorderedElementsAre(Pair("c1", half), Pair("c4", ContainerRequests{.memory_kib = 1})));
}

TEST(PodCache, StaticPod_IsFoundByBothUids) {
  Pod pod = MakePod("mirror", "etcd");
  pod.static_uid = "hash";
  const auto map = MapOf({pod});
  EXPECT_EQ(map->pods.at("mirror").name, "etcd");
  EXPECT_EQ(map->pods.at("hash").name, "etcd");
}

TEST(PodCache, WhoClaimsAnothersUid_DoesNotGetIt) {
  Pod thief = MakePod("u1", "thief");
  thief.static_uid = "u2";
  for (const auto& pods : {std::vector{thief, MakePod("u2", "victim")}, {MakePod("u2", "victim"), thief}})
    EXPECT_EQ(MapOf(pods)->pods.at("u2").name, "victim");
}

TEST(PodCache, HashThatTwoPodsClaim_NamesNeither) {
  Pod etcd = MakePod("u2", "etcd"), thief = MakePod("u1", "thief");
  etcd.static_uid = thief.static_uid = "hash";
  const auto map = MapOf({thief, etcd});
  EXPECT_FALSE(map->pods.contains("hash"));
  EXPECT_EQ(map->pods.at("u2").name, "etcd");
}

TEST(PodCache, OwnUidOfOneThatIsGone_CountsBeforeAHashThatIsClaimed) {
  PodCache cache;
  cache.Replace({MakePod("u1", "victim")}, kNow);
  Pod thief = MakePod("u2", "thief");
  thief.static_uid = "u1";
  cache.Replace({thief}, kNow);
  EXPECT_EQ(cache.MakeMap(kNow)->pods.at("u1").name, "victim");
}

TEST(PodCache, ContainerOfTwoPods_HasNoName) {
  EXPECT_EQ(
      MapOf({MakePod("u1", "a", {{"c1", "one"}}), MakePod("u2", "b", {{"c1", "other"}})})->container_names.at("c1"),
      "");
}

TEST(PodCache, TextsAreFitForLabels) {
  const auto map = MapOf({MakePod("u\xff", "a\nb", {{"c", std::string(1000, 'x')}})});
  EXPECT_EQ(map->pods.size(), 1u);
  EXPECT_LT(map->container_names.at("c").size(), 1000u);
}

TEST(PodCache, LabelsAndAnnotations_AreAsAPageShowsThem) {
  Pod pod = MakePod("u1", "web"), annotated = MakePod("u2", "db");
  pod.labels = {{"team", "a"}, {"app.kubernetes.io/name", "shop"}};
  pod.annotations = annotated.annotations = {{"example.com/owner", "b"}};
  const auto map = MapOf({pod, annotated, MakePod("u3", "plain")});
  EXPECT_THAT(*map->pods.at("u1").labels,
              ElementsAre(Pair("annotation_example_com_owner", "b"), Pair("label_app_kubernetes_io_name", "shop"),
                          Pair("label_team", "a")));
  EXPECT_THAT(*map->pods.at("u2").labels, ElementsAre(Pair("annotation_example_com_owner", "b")));
  EXPECT_EQ(map->pods.at("u3").labels, nullptr);
}

TEST(PodCache, Events_SetChangeAndRemove) {
  PodCache cache;
  ASSERT_TRUE(cache.Set(MakePod("u1", "web")));
  EXPECT_EQ(cache.size(), 1u);
  ASSERT_TRUE(cache.Set(MakePod("u1", "web", {{"c1", "nginx"}})));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(cache.MakeMap(kNow)->container_names.at("c1"), "nginx");
  cache.Remove("u1", kNow);
  cache.Remove("never there", kNow);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(PodCache, WhoIsGone_IsRememberedForAWhile) {
  PodCache cache;
  cache.Replace({MakePod("u1", "web", {{"c1", "nginx"}}), MakePod("u2", "db", {{"c2", "pg"}})}, kNow);
  cache.Replace({MakePod("u2", "db")}, kNow);
  cache.Remove("u2", kNow + 30s);
  EXPECT_EQ(cache.MakeMap(kNow + PodCache::kMemory)->pods.size(), 2u);
  const auto later = cache.MakeMap(kNow + PodCache::kMemory + 1s);
  EXPECT_THAT(later->pods, UnorderedElementsAre(Pair("u2", ::testing::_)));
  EXPECT_TRUE(later->container_names.empty()) << "the second list had none of it";
}

TEST(PodCache, WhoIsThere_CountsBeforeWhoIsGone) {
  PodCache cache;
  Pod gone = MakePod("u1", "old", {{"c1", "old"}});
  gone.static_uid = "hash";
  cache.Replace({gone}, kNow);
  Pod there = MakePod("u2", "new", {{"c1", "new"}});
  there.static_uid = "hash";
  cache.Replace({there}, kNow);
  const auto map = cache.MakeMap(kNow);
  EXPECT_EQ(map->container_names.at("c1"), "new");
  EXPECT_EQ(map->pods.at("hash").name, "new");
  EXPECT_EQ(map->pods.at("u1").name, "old");
}

TEST(PodCache, TwentyThousandThatComeAndGo_AreBounded) {
  PodCache cache;
  for (int i = 0; i < 20'000; ++i) {
    const std::string uid = "u" + std::to_string(i);
    ASSERT_TRUE(cache.Set(MakePod(uid, "p", {{"c" + uid, "c"}})));
    cache.Remove(uid, kNow);
  }
  const auto map = cache.MakeMap(kNow);
  EXPECT_EQ(map->pods.size(), PodCache::kMaxGone);
  EXPECT_TRUE(map->pods.contains("u19999"));
}

TEST(PodCache, MorePodsThanANodeHas_AreRefused) {
  PodCache cache;
  for (size_t i = 0; i < kMaxPods; ++i) ASSERT_TRUE(cache.Set(MakePod("u" + std::to_string(i), "p")));
  EXPECT_FALSE(cache.Set(MakePod("one more", "p")));
  EXPECT_TRUE(cache.Set(MakePod("u7", "known")));
}

}  // namespace
}  // namespace kepler::workload::kubernetes
