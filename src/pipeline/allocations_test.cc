// A new version of the pods costs the tick what has changed, not what runs.
#include "testing/allocations.h"

#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

constexpr uint32_t kPods = 300;

std::string UidOf(uint32_t pod) { return fmt::format("152bb6d4-0ddf-4332-848a-{:012x}", pod); }
std::string ContainerOf(uint32_t pod) { return fmt::format("{:064x}", pod); }

/// `renamed`: so many have another name than the first time.
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

}  // namespace
}  // namespace kepler::pipeline
