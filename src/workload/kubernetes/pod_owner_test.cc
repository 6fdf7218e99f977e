
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "workload/kubernetes/pod_cache.h"
#include "workload/kubernetes/pod_json.h"

namespace kepler::workload::kubernetes {
namespace {

/// "kind/name" of the owner of a pod with this metadata, in a list that is read in pieces.
std::string OwnerOf(const std::string& metadata, size_t piece = SIZE_MAX) {
  const std::string text =
      R"({"kind":"PodList","items":[{"metadata":{"uid":"u","name":"p",)" + metadata + R"(},"status":{}}]})";
  PodListReader reader;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
    if (!reader.Read(rest.substr(0, piece))) return "malformed";
  const auto list = reader.Finish();
  if (!list || list->pods.size() != 1) return "malformed";
  return list->pods[0].owner.kind + "/" + list->pods[0].owner.name;
}
std::string Reference(const std::string& kind, const std::string& name, const std::string& controller = "true") {
  return R"({"apiVersion":"apps/v1","kind":")" + kind + R"(","name":")" + name + R"(","uid":"x","controller":)" +
         controller + R"(,"blockOwnerDeletion":true})";
}
std::string References(const std::string& list) { return R"("ownerReferences":[)" + list + "]"; }
std::string OwnerOf(const std::string& kind, const std::string& name, const std::string& hash) {
  return OwnerOf(R"("labels":{"app":"web","pod-template-hash":")" + hash + R"("},)" +
                 References(Reference(kind, name)));
}

TEST(PodOwner, ControllerIsTheOwner) {
  EXPECT_EQ(OwnerOf(References(Reference("StatefulSet", "db"))), "StatefulSet/db");
  EXPECT_EQ(OwnerOf(References(Reference("DaemonSet", "kube-proxy"))), "DaemonSet/kube-proxy");
  EXPECT_EQ(OwnerOf(References(Reference("Workflow", "train"))), "Workflow/train");
  EXPECT_EQ(OwnerOf(References(Reference("Queue", "q", "false") + "," + Reference("Job", "train"))), "Job/train");
  EXPECT_EQ(OwnerOf(References(Reference("A", "first") + "," + Reference("B", "second"))), "A/first");
}

TEST(PodOwner, WithoutAController_None) {
  EXPECT_EQ(OwnerOf(R"("labels":{})"), "/");
  EXPECT_EQ(OwnerOf(References("")), "/");
  EXPECT_EQ(OwnerOf(References(Reference("Queue", "q", "false"))), "/");
  EXPECT_EQ(OwnerOf(References(Reference("Queue", "q", "null"))), "/");
  EXPECT_EQ(OwnerOf(References(R"({"kind":"Job","name":"j"})")), "/");
}

TEST(PodOwner, MalformedReferences_AreSkipped) {
  EXPECT_EQ(OwnerOf(References(R"({"kind":"Job","controller":true},)" + Reference("DaemonSet", "d"))), "DaemonSet/d");
  EXPECT_EQ(OwnerOf(References(R"({"name":"j","controller":true})")), "/");
  EXPECT_EQ(OwnerOf(References(R"({"kind":7,"name":["j"],"controller":true})")), "/");
  EXPECT_EQ(OwnerOf(References(R"({"kind":"Job","name":"j","controller":"true"})")), "/");
  EXPECT_EQ(OwnerOf(R"("ownerReferences":{"kind":"Job","name":"j","controller":true})"), "/");
  EXPECT_EQ(OwnerOf(R"("ownerReferences":"Job")"), "/");
  EXPECT_EQ(OwnerOf(R"("ownerReferences":[{"kind":"Job")"), "malformed");
}

TEST(PodOwner, ReplicaSetWithTheTemplateHash_IsADeployment) {
  EXPECT_EQ(OwnerOf("ReplicaSet", "web-server-6d4cf56db6", "6d4cf56db6"), "Deployment/web-server");
  EXPECT_EQ(OwnerOf("ReplicaSet", "web-server-6d4cf56db6", "other"), "ReplicaSet/web-server-6d4cf56db6");
  EXPECT_EQ(OwnerOf("ReplicaSet", "web", ""), "ReplicaSet/web");
  EXPECT_EQ(OwnerOf("ReplicaSet", "-abc", "abc"), "ReplicaSet/-abc");
  EXPECT_EQ(OwnerOf("ReplicaSet", "abc", "abc"), "ReplicaSet/abc");
  EXPECT_EQ(OwnerOf("ReplicaSet", "webabc", "abc"), "ReplicaSet/webabc");
  EXPECT_EQ(OwnerOf("StatefulSet", "web-abc", "abc"), "StatefulSet/web-abc");
}

TEST(PodOwner, JobWithAScheduledTime_IsACronJob) {
  EXPECT_EQ(OwnerOf("Job", "nightly-backup-29679120", ""), "CronJob/nightly-backup");
  EXPECT_EQ(OwnerOf("Job", "train-20260131", ""), "Job/train-20260131") << "a date";
  EXPECT_EQ(OwnerOf("Job", "train-1764252720", ""), "Job/train-1764252720") << "seconds";
  EXPECT_EQ(OwnerOf("Job", "train-40000000", ""), "Job/train-40000000");
  EXPECT_EQ(OwnerOf("Job", "29679120", ""), "Job/29679120");
  EXPECT_EQ(OwnerOf("Job", "-29679120", ""), "Job/-29679120");
  EXPECT_EQ(OwnerOf("Job", "train-+9679120", ""), "Job/train-+9679120");
  EXPECT_EQ(OwnerOf("DaemonSet", "d-29679120", ""), "DaemonSet/d-29679120");
}

TEST(PodOwner, HoweverTheListIsCut_TheSame) {
  const std::string metadata =
      R"("labels":{"pod-template-hash":"abc"},)" + References(Reference("ReplicaSet", "web-abc"));
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{17}})
    EXPECT_EQ(OwnerOf(metadata, piece), "Deployment/web") << piece;
}

TEST(PodOwner, OfAPod_IsNotThatOfThePodBefore) {
  PodListReader reader;
  ASSERT_TRUE(reader.Read(R"({"kind":"PodList","items":[{"metadata":{"uid":"u1","name":"p",)" +
                          References(Reference("Job", "j")) + R"(}},{"metadata":{"uid":"u2","name":"q"}}]})"));
  const auto list = reader.Finish();
  ASSERT_TRUE(list);
  EXPECT_EQ(list->pods.at(0).owner, (PodOwner{"Job", "j"}));
  EXPECT_EQ(list->pods.at(1).owner, PodOwner{});
}

TEST(PodOwner, InTheMap_IsALabelText) {
  PodCache cache;
  Pod pod{.uid = "u", .static_uid = "", .name = "p", .name_space = "n", .containers = {}};
  pod.owner = {"Job\xff", std::string(1000, 'x')};
  EXPECT_FALSE(cache.Set(pod).any());
  const auto map = cache.Latest(BootTime(std::chrono::seconds(1)));
  ASSERT_NE(map->Find("u"), nullptr);
  EXPECT_EQ(map->Find("u")->owner.kind, "Job\xEF\xBF\xBD");
  EXPECT_EQ(map->Find("u")->owner.name.size(), 255u);
  EXPECT_EQ(map->Find("v"), nullptr);
}

}  // namespace
}  // namespace kepler::workload::kubernetes
