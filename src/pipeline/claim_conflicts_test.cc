// Cgroups that claim the id of another's container or pod.
#include "pipeline/claim_conflicts.h"

#include <gtest/gtest.h>

#include <string>

#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using std::chrono::milliseconds;

const std::string kVictim(64, 'e');
const std::string kVictimPod = "152bb6d4-0ddf-4332-848a-0095e4e2dadd";
const std::string kVictimBox = "/kubepods/burstable/pod" + kVictimPod + "/" + kVictim;
const std::string kClaimant = "uid1000/";

/// A pod's container, known to the cluster, and processes of a user who claims the same.
class ClaimedPods : public ::testing::Test {
 protected:
  ClaimedPods() {
    node_.UsePods(directory_);
    directory_.latest =
        MapOf({{.identity = {kVictimPod, "web", "shop", nullptr}, .containers = {{kVictim, "server"}}}});
  }
  static cgroup::Owner Claim(const std::string& pod = kVictimPod) {
    return {
        .container = ContainerId{"kubernetes", kClaimant + kVictim}, .pod_uid = kClaimant + pod, .qos = "burstable"};
  }
  void StartVictim() { node_.activity.Start(0, 10, "a", kVictimBox); }
  void StartClaimant(const cgroup::Owner& owner) {
    node_.activity.Start(1, 20, "b").info.cgroup =
        std::make_shared<cgroup::Membership>(os::CgroupLines{{0, "", "/claim"}}, owner);
  }
  void Second(uint64_t joules) {
    for (auto& [slot, process] : node_.activity.processes) process.cpu = milliseconds(100);
    node_.Second(joules);
    if (node_.Latest()) ExpectConserved(*node_.Latest());  // the first tick publishes nothing
  }
  [[nodiscard]] const status::RefusedClaims& Refused() const { return node_.Latest()->pipeline.refused_claims; }
  /// "id pod name joules" for each container, then each pod, in the order of the accounts.
  std::string Listed() {
    std::string text;
    const auto latest = node_.Latest();
    for (size_t row = 0; row < latest->containers.rows(); ++row) {
      const auto& identity = *latest->containers.identity[row];
      text += fmt::format("{} in {} {}: {}\n", identity.id, identity.pod_id, identity.name,
                          Joules(latest->containers.energy_at(row, 0)));
    }
    for (size_t row = 0; row < latest->pods.rows(); ++row) {
      const auto& identity = *latest->pods.identity[row];
      text += fmt::format("{} {}: {}\n", identity.id, identity.name, Joules(latest->pods.energy_at(row, 0)));
    }
    return text;
  }

  ScriptedDirectory directory_;
  TestNode node_;
};

TEST_F(ClaimedPods, UsersClaim_IsAContainerAndPodOfItsOwn_WithoutTheNamesOfTheCluster) {
  StartVictim();
  StartClaimant(Claim());
  Second(0);
  Second(20);
  EXPECT_EQ(Listed(), fmt::format("{0} in {1} server: 5\nuid1000/{0} in uid1000/{1} : 5\n"
                                  "{1} web: 5\nuid1000/{1} : 5\n",
                                  kVictim, kVictimPod));
  EXPECT_EQ(Refused().containers, 1u);
  EXPECT_EQ(Refused().pods, 1u);
  EXPECT_TRUE(directory_.missed.empty()) << "the cluster is not asked for it";
}

TEST_F(ClaimedPods, ClaimOfAnotherPod_DoesNotRelabelTheContainer) {
  StartVictim();
  Second(0);
  StartClaimant(Claim("8f14e45f-ceea-467f-a0e6-3a1f6f0b2c11"));
  Second(20);
  Second(20);
  const auto latest = node_.Latest();
  ASSERT_EQ(latest->containers.identity[0]->id, kVictim);
  EXPECT_EQ(latest->containers.identity[0]->pod_id, kVictimPod);
  EXPECT_EQ(latest->containers.energy_at(0, 0), latest->pods.energy_at(0, 0));
  EXPECT_EQ(Refused().containers, 1u);
  EXPECT_EQ(Refused().pods, 0u) << "no pod of that UID is here";
}

TEST_F(ClaimedPods, ClaimUnderAnotherRuntime_IsCountedAndLoggedOnce) {
  directory_.latest = std::make_shared<const workload::PodMap>();
  node_.activity.Start(0, 10, "a", "/system.slice/cri-containerd-" + kVictim + ".scope");
  StartClaimant({.container = ContainerId{"docker", kClaimant + kVictim}, .pod_uid = {}, .qos = {}});
  ::testing::internal::CaptureStdout();
  for (const uint64_t joules : {0u, 20u, 20u}) Second(joules);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(Listed(), fmt::format("{0} in  : 10\nuid1000/{0} in  : 10\n", kVictim));
  EXPECT_EQ(Refused().containers, 1u);
  EXPECT_NE(log.find("claimed_by=uid1000"), std::string::npos) << log;
  EXPECT_EQ(log.find("claimed_by="), log.rfind("claimed_by=")) << log;
}

// People choose the names of these, so two of them may have the same one.
TEST_F(ClaimedPods, SameNameUnderAnotherRuntime_IsNoClaim) {
  directory_.latest = std::make_shared<const workload::PodMap>();
  node_.activity.Start(0, 10, "a", "/lxc.payload.web");
  StartClaimant({.container = ContainerId{"systemd-nspawn", kClaimant + "web"}, .pod_uid = {}, .qos = {}});
  for (const uint64_t joules : {0u, 20u}) Second(joules);
  EXPECT_EQ(Refused().containers, 0u);
}

TEST_F(ClaimedPods, ClaimEnds_TheVictimRunsOn) {
  StartVictim();
  StartClaimant(Claim());
  Second(0);
  node_.activity.Exit(1);
  Second(10);
  Second(10);
  EXPECT_EQ(Listed(), fmt::format("{0} in {1} server: 10\n{1} web: 10\n", kVictim, kVictimPod));
  EXPECT_EQ(node_.Latest()->containers.state[0], snapshot::State::kRunning);
}

TEST_F(ClaimedPods, ClaimantIsFirst_CountedWhenTheVictimComes) {
  directory_.latest = std::make_shared<const workload::PodMap>();
  StartClaimant(Claim());
  node_.activity.living = {std::make_shared<const cgroup::Cgroup>("/claim", Claim())};
  Second(0);
  Second(10);
  EXPECT_EQ(Refused().containers, 0u);
  StartVictim();
  Second(10);
  Second(10);
  EXPECT_EQ(Refused().containers, 1u);
  EXPECT_EQ(Refused().pods, 1u);
}

TEST_F(ClaimedPods, KnownToTheClusterButNotHere_IsAClaimOfItAllTheSame) {
  StartClaimant(Claim());
  Second(0);
  Second(10);
  EXPECT_EQ(Refused().containers, 1u);
  EXPECT_EQ(Refused().pods, 1u);
}

TEST_F(ClaimedPods, ContainersWithinOnes_OfTheFirstWhoNamesThem) {
  StartClaimant({.container = ContainerId{"docker", "uid1000/aaaaaaaaaaaa/" + kVictim}, .pod_uid = {}, .qos = {}});
  node_.activity.Start(2, 30, "c").info.cgroup = std::make_shared<cgroup::Membership>(
      os::CgroupLines{{0, "", "/d"}},
      cgroup::Owner{.container = ContainerId{"docker", kClaimant + kVictim}, .pod_uid = {}, .qos = {}});
  node_.activity.living = {
      std::make_shared<const cgroup::Cgroup>("/claim", node_.activity.processes[1].info.cgroup->owner)};
  directory_.latest = std::make_shared<const workload::PodMap>();
  Second(0);
  Second(10);
  EXPECT_EQ(Refused().containers, 1u) << "the user's own comes before one inside another of the user's";
}

TEST_F(ClaimedPods, ManyClaimsOfOneUser_AreCountedAndSaidOnce) {
  StartVictim();
  workload::KnownPod known{.identity = {.id = "many"}};
  for (int i = 0; i < 50; ++i) {
    const std::string id = fmt::format("{:064x}", i);
    known.containers.push_back({id, "x"});
    node_.activity.living.push_back(std::make_shared<const cgroup::Cgroup>(
        "/claim", cgroup::Owner{.container = ContainerId{"kubernetes", kClaimant + id}, .pod_uid = {}, .qos = {}}));
  }
  directory_.latest = MapOf({known});
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 5; ++i) Second(10);
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(Refused().containers, 50u);
  EXPECT_NE(log.find("claimed_by=uid1000"), std::string::npos) << log;
  EXPECT_EQ(log.find("claimed_by="), log.rfind("claimed_by=")) << log;
}

TEST_F(ClaimedPods, ClaimMadeAgain_CountsAgain) {
  StartVictim();
  for (int i = 0; i < 3; ++i) {
    node_.activity.living = {std::make_shared<const cgroup::Cgroup>("/claim", Claim())};
    Second(0);
    node_.activity.living.clear();
    Second(0);
  }
  EXPECT_EQ(Refused().containers, 3u);
}

}  // namespace
}  // namespace kepler::pipeline
