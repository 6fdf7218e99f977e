#include "workload/pod_map.h"

#include <gtest/gtest.h>

#include <utility>

namespace kepler::workload {
namespace {

KnownPodPtr Make(const std::string& uid, const std::string& name, std::vector<PodContainer> containers = {},
                 const std::string& static_uid = "") {
  return std::make_shared<const KnownPod>(KnownPod{.identity = {.id = uid, .name = name, .name_space = "ns"},
                                                   .static_uid = static_uid,
                                                   .containers = std::move(containers)});
}
std::string NameOf(const PodMap& map, std::string_view uid) {
  const snapshot::PodIdentity* const pod = map.FindPod(uid);
  return pod == nullptr ? "unknown" : pod->name;
}
std::string ContainerOf(const PodMap& map, std::string_view id) {
  const PodMap::Container* const container = map.FindContainer(id);
  return container == nullptr ? "unknown" : std::string(container->name);
}

TEST(PodMap, PodsAndContainersByWhatTheirCgroupsShow) {
  const PodMap map({Make("u1", "web", {{"c1", "nginx"}, {"c2", "sidecar"}}), Make("u2", "db")});
  EXPECT_EQ(NameOf(map, "u1"), "web");
  EXPECT_EQ(map.FindPod("u1")->name_space, "ns");
  EXPECT_EQ(NameOf(map, "u2"), "db");
  EXPECT_EQ(ContainerOf(map, "c1"), "nginx");
  EXPECT_EQ(ContainerOf(map, "c2"), "sidecar");
  EXPECT_EQ(ContainerOf(map, "c3"), "unknown");
  EXPECT_EQ(map.containers(), 2u);
}

TEST(PodMap, RequestsOfContainers_OfNoneWhereTwoPodsDisagree) {
  const ContainerRequests half{.cpu_millis = 500};
  const PodMap map({Make("u1", "web", {{"c1", "nginx", half}, {"c2", "sidecar"}, {"c3", "x", half}}),
                    Make("u2", "db", {{"c3", "x"}, {"c4", "db", {.memory_kib = 1}}})});
  EXPECT_EQ(map.FindContainer("c1")->requests, half);
  EXPECT_FALSE(map.FindContainer("c2")->requests.any());
  EXPECT_FALSE(map.FindContainer("c3")->requests.any());
  EXPECT_EQ(map.FindContainer("c4")->requests, ContainerRequests{.memory_kib = 1});
}

TEST(PodMap, StaticPod_IsFoundByBothUids) {
  const PodMap map({Make("mirror", "etcd", {}, "hash")});
  EXPECT_EQ(NameOf(map, "mirror"), "etcd");
  EXPECT_EQ(NameOf(map, "hash"), "etcd");
}

TEST(PodMap, WhoClaimsAnothersUid_DoesNotGetIt) {
  const auto thief = Make("u1", "thief", {}, "u2"), victim = Make("u2", "victim");
  EXPECT_EQ(NameOf(PodMap({thief, victim}), "u2"), "victim");
  EXPECT_EQ(NameOf(PodMap({victim, thief}), "u2"), "victim");
  EXPECT_EQ(NameOf(PodMap({thief}, {victim}), "u2"), "victim") << "also one that is gone";
}

TEST(PodMap, HashThatTwoPodsClaim_NamesNeither) {
  const PodMap map({Make("u1", "thief", {}, "hash"), Make("u2", "etcd", {}, "hash")});
  EXPECT_EQ(NameOf(map, "hash"), "unknown");
  EXPECT_EQ(NameOf(map, "u2"), "etcd");
}

TEST(PodMap, ContainerOfTwoPods_HasNoName) {
  EXPECT_EQ(ContainerOf(PodMap({Make("u1", "a", {{"c1", "one"}}), Make("u2", "b", {{"c1", "other"}})}), "c1"), "");
}

TEST(PodMap, PodThatExists_CountsBeforeOneThatIsGone) {
  const PodMap map({Make("u2", "new", {{"c1", "new"}}, "hash")},
                   {Make("u1", "old", {{"c1", "old"}, {"c2", "old"}}, "hash"), Make("u1", "older", {{"c2", "older"}})});
  EXPECT_EQ(ContainerOf(map, "c1"), "new");
  EXPECT_EQ(NameOf(map, "hash"), "new");
  EXPECT_EQ(NameOf(map, "u1"), "old");
  EXPECT_EQ(ContainerOf(map, "c2"), "old") << "the latest of those that are gone";
}

TEST(PodMap, Pods_OutliveWhoeverMadeTheMap) {
  PodMap map;
  map = PodMap({Make("u1", "web", {{"c1", "nginx"}})});
  const PodMap copy = map;
  map = {};
  EXPECT_EQ(NameOf(map, "u1"), "unknown");
  EXPECT_EQ(NameOf(copy, "u1"), "web");
  EXPECT_EQ(ContainerOf(copy, "c1"), "nginx");
}

}  // namespace
}  // namespace kepler::workload
