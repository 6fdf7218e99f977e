// A new version of the pods costs the tick what has changed, not what runs. A known claim costs it nothing.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include "pipeline/claim_conflicts.h"
#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

constexpr uint32_t kPods = 300;

std::string UidOf(uint32_t pod) { return fmt::format("152bb6d4-0ddf-4332-848a-{:012x}", pod); }
std::string ContainerOf(uint32_t pod) { return fmt::format("{:064x}", pod); }

/// `renamed`: number of pods with another name than the first time.
std::shared_ptr<const workload::PodMap> Pods(uint32_t renamed) {
  std::vector<workload::KnownPod> pods;
  pods.reserve(kPods);
  for (uint32_t pod = 0; pod < kPods; ++pod)
    pods.push_back(
        {.identity = {UidOf(pod), fmt::format("a-pod-with-a-long-{}-{}", pod < renamed ? "new-name" : "name", pod),
                      "a-namespace"},
         .containers = {{ContainerOf(pod), "a-container-with-a-long-name"}}});
  return MapOf(std::move(pods));
}

TEST(PodNames, NewVersion_AllocatesForWhatHasChangedOnly) {
  ScriptedDirectory directory;
  TestNode node;
  node.UsePods(directory);
  for (uint32_t pod = 0; pod < kPods; ++pod) {
    const auto pid = static_cast<int32_t>(1000 + pod);
    node.proc.Write(std::to_string(pid) + "/status", "Uid:\t0\t0\t0\t0\n");
    node.activity.Start(pod, pid, "server", "/kubepods/burstable/pod" + UidOf(pod) + "/" + ContainerOf(pod));
  }
  directory.latest = Pods(0);
  for (int tick = 0; tick < 5; ++tick) node.Second(10);
  ASSERT_EQ(node.Latest()->pods.rows(), kPods);
  const auto allocated = [&] {
    const uint64_t before = testing::allocations;
    node.Second(10);
    return testing::allocations - before;
  };
  const uint64_t unchanged = allocated();
  directory.latest = Pods(0);
  EXPECT_LE(allocated(), unchanged + 20) << "a version that says the same";
  directory.latest = Pods(1);
  EXPECT_LE(allocated(), unchanged + 60) << "one name of many";
  EXPECT_EQ(node.Latest()->pods.rows(), kPods);
}

TEST(PendingContainers, CgroupsThatExist_AllocateNothing) {
  TestNode node;
  for (uint32_t pod = 0; pod < kPods; ++pod) {
    const auto pid = static_cast<int32_t>(1000 + pod);
    node.proc.Write(std::to_string(pid) + "/status", "Uid:\t0\t0\t0\t0\n");
    node.activity.Start(pod, pid, "server", "/kubepods/burstable/pod" + UidOf(pod) + "/" + ContainerOf(pod));
  }
  for (int tick = 0; tick < 5; ++tick) node.Second(10);
  const auto allocated = [&] {
    const uint64_t before = testing::allocations;
    node.Second(10);
    return testing::allocations - before;
  };
  const uint64_t without = allocated();
  std::vector<std::string> paths;
  for (uint32_t pod = 0; pod < kPods; ++pod) {
    paths.push_back("/kubepods/burstable/pod" + UidOf(pod));
    paths.push_back(paths.back() + "/" + ContainerOf(pod));
  }
  node.activity.living = Cgroups(paths);
  EXPECT_LE(allocated(), without + 20);
  EXPECT_EQ(node.Latest()->containers.rows(), kPods);
}

/// A user's container and pod, in each tick.
uint64_t AllocatedBySeeing(const cgroup::Owner& owner, const OpenGroups& containers, const OpenGroups& pods,
                           uint64_t refused) {
  ClaimConflicts conflicts(containers, pods);
  const workload::PodMap known;
  uint64_t before = 0;
  for (int tick = 0; tick < 3; ++tick) {
    before = testing::allocations;
    conflicts.See(owner, known, {});
    conflicts.EndTick();
  }
  const uint64_t allocated = testing::allocations - before;
  EXPECT_EQ(conflicts.counts().containers, refused);
  EXPECT_EQ(conflicts.counts().pods, refused);
  return allocated;
}

TEST(Claims, SeenAgain_AllocateNothing) {
  const cgroup::Owner owner{
      .container = ContainerId{"docker", "uid1000/" + ContainerOf(1)}, .pod_uid = "uid1000/" + UidOf(1), .qos = {}};
  OpenGroups containers;
  OpenGroups pods;
  EXPECT_EQ(AllocatedBySeeing(owner, containers, pods, 0), 0u) << "of what nobody else has";
  containers.Open(0, "containerd", ContainerOf(1));
  pods.Open(0, "", UidOf(1));
  EXPECT_EQ(AllocatedBySeeing(owner, containers, pods, 1), 0u) << "of what runs";
}

}  // namespace
}  // namespace kepler::pipeline
