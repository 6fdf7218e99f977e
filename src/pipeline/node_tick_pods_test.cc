// What the cluster says about pods reaches series that run already.
#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"
#include "workload/label_lists.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

const std::string kUid = "152bb6d4-0ddf-4332-848a-0095e4e2dadd";
const std::string kId(64, 'c');
const std::string kPodBox = "/kubepods/burstable/pod" + kUid + "/" + kId;

class NodeTickPods : public ::testing::Test {
 protected:
  NodeTickPods() {
    node_.UsePods(directory_);
    node_.proc.Write("10/environ", std::string("HOSTNAME=web-7f\0", 16));
    node_.proc.Write("10/cmdline", "");
    node_.proc.Write("10/status", "Uid:\t0\t0\t0\t0\n");
    node_.activity.Start(0, 10, "a", kPodBox);
    node_.Second(0);
    Run(10);
  }
  void Run(uint64_t joules) {
    node_.activity.processes[0].cpu = milliseconds(100);
    node_.Second(joules);
    latest_ = node_.Latest();
    ExpectConserved(*latest_);
  }
  void Learn(const std::string& name, const std::string& container,
             const std::vector<std::pair<std::string, std::string>>& labels = {}) {
    directory_.latest =
        MapOf({{.identity = {kUid, name, "shop", lists_.Intern(labels)}, .containers = {{kId, container}}}});
  }
  [[nodiscard]] const snapshot::PodIdentity& Pod() const { return *latest_->pods.identity.at(0); }

  ScriptedDirectory directory_;
  workload::LabelLists lists_;
  TestNode node_;
  std::shared_ptr<const snapshot::Snapshot> latest_;
};

TEST_F(NodeTickPods, NamesThatComeLater_OldSeriesDepartsItsJoulesStay) {
  EXPECT_EQ(Pod(), (snapshot::PodIdentity{.id = kUid}));
  EXPECT_EQ(latest_->containers.identity[0]->name, "web-7f");
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 5);
  Learn("web", "server", {{"tier", "front"}});
  Run(20);
  ASSERT_EQ(latest_->pods.rows(), 1U);
  EXPECT_EQ(Pod().name, "web");
  EXPECT_EQ(Pod().name_space, "shop");
  EXPECT_EQ(*Pod().labels, (snapshot::LabelList{{"label_tier", "front"}}));
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 10) << "a series of its own";
  EXPECT_EQ(Unlisted0(*latest_, Level::kPod, Unlisted::kDeparted), 5);
  ASSERT_EQ(latest_->containers.rows(), 1U);
  EXPECT_EQ(latest_->containers.identity[0]->name, "server") << "the pod's own word for it";
  EXPECT_EQ(Unlisted0(*latest_, Level::kContainer, Unlisted::kDeparted), 5);
  EXPECT_EQ(Joules(latest_->processes.energy_at(0, 0)), 15) << "its labels are the same";
}

TEST_F(NodeTickPods, DelayedName_NamespaceAndOwnerGetAllTheEnergy) {
  Run(0);
  EXPECT_EQ(latest_->namespaces.rows(), 0U);
  EXPECT_EQ(Joules(latest_->unnamed[std::to_underlying(Level::kNamespace)][0]), 5);
  directory_.latest = MapOf({{.identity = {kUid, "web-7f", "shop"}, .owner = {"Deployment", "web"}}});
  Run(20);
  ASSERT_EQ(latest_->namespaces.rows(), 1U);
  EXPECT_EQ(*latest_->namespaces.identity[0], snapshot::OwnerIdentity{"shop"});
  EXPECT_EQ(Joules(latest_->namespaces.energy_at(0, 0)), 15);
  ASSERT_EQ(latest_->owners.rows(), 1U);
  EXPECT_EQ(*latest_->owners.identity[0], (snapshot::OwnerIdentity{"shop", "Deployment", "web"}));
  EXPECT_EQ(Joules(latest_->owners.energy_at(0, 0)), 15);
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 10) << "its series ended without the name";
}

TEST_F(NodeTickPods, NameAfterTheEnd_NamespaceGetsAllTheEnergy) {
  node_.activity.Exit(0);
  for (int second = 0; second < 3; ++second) node_.Second(0);
  ASSERT_EQ(node_.Latest()->pods.rows(), 0U);
  Learn("web", "server");
  node_.Second(0);
  ASSERT_EQ(node_.Latest()->namespaces.rows(), 1U);
  EXPECT_EQ(Joules(node_.Latest()->namespaces.energy_at(0, 0)), 5);
  ExpectConserved(*node_.Latest());
}

/// A directory that answers: what is new waits for its name.
class NodeTickNewPods : public ::testing::Test {
 protected:
  NodeTickNewPods() {
    directory_.answers = true;
    node_.UsePods(directory_);
    Second(0);
    Second(0);
    for (int pid : {10, 11}) {
      node_.proc.Write(std::to_string(pid) + "/environ", "");
      node_.proc.Write(std::to_string(pid) + "/cmdline", "");
      node_.proc.Write(std::to_string(pid) + "/status", "Uid:\t0\t0\t0\t0\n");
    }
    node_.activity.Start(0, 10, "a", kPodBox);
    node_.activity.processes[0].cpu = milliseconds(100);
    Second(10);  // half of it is idle
  }
  void Second(uint64_t joules) {
    node_.Second(joules);
    latest_ = node_.Latest();
    if (latest_) ExpectConserved(*latest_);
  }
  void Run(uint64_t joules) {
    node_.activity.processes[0].cpu = milliseconds(100);
    Second(joules);
  }
  void Learn(bool container = true) {
    workload::KnownPod pod{.identity = {kUid, "web", "shop"}};
    if (container) pod.containers = {{kId, "server"}};
    directory_.latest = MapOf({pod});
  }
  [[nodiscard]] int64_t Unnamed(Level level) const { return Joules(latest_->unnamed[std::to_underlying(level)][0]); }

  ScriptedDirectory directory_;
  TestNode node_;
  std::shared_ptr<const snapshot::Snapshot> latest_;
};

TEST_F(NodeTickNewPods, NameThatComesWithinTheHold_HasTheEnergyOfTheStart) {
  EXPECT_EQ(latest_->pods.rows(), 0U);
  EXPECT_EQ(latest_->containers.rows(), 0U);
  EXPECT_EQ(Unnamed(Level::kPod), 5);
  EXPECT_EQ(Unnamed(Level::kContainer), 5);
  EXPECT_EQ(directory_.missed, std::set{kId});
  Learn();
  Run(20);
  ASSERT_EQ(latest_->pods.rows(), 1U);
  EXPECT_EQ(latest_->pods.identity[0]->name, "web");
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 15);
  EXPECT_EQ(latest_->containers.identity.at(0)->name, "server");
  EXPECT_EQ(Joules(latest_->containers.energy_at(0, 0)), 15);
  EXPECT_EQ(Unnamed(Level::kPod), 0);
  EXPECT_EQ(Unlisted0(*latest_, Level::kPod, Unlisted::kDeparted), 0);
  EXPECT_EQ(Unlisted0(*latest_, Level::kContainer, Unlisted::kDeparted), 0);
}

TEST_F(NodeTickNewPods, PodWhoseContainersTheKubeletDoesNotShowYet_IsNamedBeforeThem) {
  Learn(false);
  Run(20);
  EXPECT_EQ(latest_->pods.identity.at(0)->name, "web");
  EXPECT_EQ(latest_->containers.rows(), 0U);
  EXPECT_EQ(Unnamed(Level::kContainer), 15);
  Learn();
  Run(20);
  EXPECT_EQ(Joules(latest_->containers.energy_at(0, 0)), 25);
}

TEST_F(NodeTickNewPods, NameThatDoesNotCome_IsAwaitedForALimitedTime) {
  for (Nanoseconds waited{0}; waited < WorkloadIndex::kMaxHold; waited += std::chrono::seconds(1)) {
    EXPECT_EQ(latest_->pods.rows(), 0U) << waited.count();
    Run(20);
  }
  ASSERT_EQ(latest_->pods.rows(), 1U);
  EXPECT_EQ(latest_->pods.identity[0]->name, "");
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 45);
  EXPECT_EQ(latest_->containers.rows(), 1U);
}

TEST_F(NodeTickNewPods, DirectoryThatFails_IsNotAwaited) {
  directory_.answers = false;
  Run(20);
  EXPECT_EQ(latest_->pods.rows(), 1U);
  EXPECT_EQ(latest_->containers.rows(), 1U);
  EXPECT_EQ(Unnamed(Level::kPod), 0);
}

TEST_F(NodeTickNewPods, ShortPodThatHasEnded_IsShownUnderItsName) {
  node_.activity.Exit(0);
  Second(0);
  EXPECT_EQ(Unnamed(Level::kPod), 5);
  Learn();
  Second(0);
  EXPECT_EQ(latest_->pods.identity.at(0)->name, "web");
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 5);
  EXPECT_EQ(Joules(latest_->containers.energy_at(0, 0)), 5);
  Second(0);
  EXPECT_EQ(latest_->pods.rows(), 0U);
  EXPECT_EQ(Unlisted0(*latest_, Level::kPod, Unlisted::kDeparted), 5);
}

TEST_F(NodeTickNewPods, LaterContainerOfANamedPod_Waits) {
  Learn();
  Run(20);
  const std::string later(64, 'e');
  node_.activity.Start(1, 11, "b", "/kubepods/burstable/pod" + kUid + "/" + later);
  node_.activity.processes[0].cpu = node_.activity.processes[1].cpu = milliseconds(100);
  Second(20);
  EXPECT_EQ(latest_->containers.rows(), 1U);
  EXPECT_EQ(Unnamed(Level::kContainer), 5);
  EXPECT_EQ(Unnamed(Level::kPod), 0);
}

TEST_F(NodeTickPods, SameNamesInANewVersion_SeriesGoOn) {
  Learn("web", "server", {{"tier", "front"}});
  Run(20);
  Learn("web", "server", {{"tier", "front"}});
  Run(20);
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 20);
  EXPECT_EQ(Joules(latest_->containers.energy_at(0, 0)), 20);
}

TEST_F(NodeTickPods, CommandOfKeplerRunInAPod_IsNotAskedFor) {
  Learn("web", "server");
  Run(20);
  directory_.missed.clear();
  node_.activity.Start(1, 11, "make", kPodBox + "/kepler-run-make-7");
  Run(20);
  EXPECT_TRUE(directory_.missed.empty());
}

TEST_F(NodeTickPods, ContainerThatNobodyNames_IsAskedFor) {
  EXPECT_EQ(directory_.missed, std::set{kId});
  Learn("web", "server");
  Run(20);
  directory_.missed.clear();
  node_.activity.Start(1, 11, "b", kPodBox);
  node_.activity.Start(2, 12, "c", "/docker/" + std::string(64, 'd'));  // of no pod
  Run(20);
  EXPECT_TRUE(directory_.missed.empty());
}

TEST_F(NodeTickPods, ForgottenPod_StaysKnownWhileItRuns) {
  Learn("web", "server");
  Run(20);
  directory_.latest = std::make_shared<const workload::PodMap>();
  Run(20);
  EXPECT_EQ(Pod().name, "web");
  EXPECT_EQ(latest_->containers.identity[0]->name, "server");
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 20);
}

TEST_F(NodeTickPods, EndedPod_StaysAsItWasListed) {
  Run(2000);
  node_.activity.Exit(0);
  node_.Second(0);
  ASSERT_EQ(node_.Latest()->pods.state.at(0), snapshot::State::kTerminated);
  const Energy before = node_.Latest()->pods.energy_at(0, 0);
  Learn("web", "server");
  node_.Second(0);
  const auto s = node_.Latest();
  EXPECT_EQ(s->pods.state.at(0), snapshot::State::kTerminated);
  EXPECT_EQ(s->pods.identity[0]->name, "");
  EXPECT_EQ(s->pods.energy_at(0, 0), before);
  EXPECT_EQ(s->containers.identity.at(0)->name, "web-7f");
}

TEST_F(NodeTickPods, StaticPodWithTheUidOfItsMirror_IsThePodOfItsCgroup) {
  directory_.latest = MapOf({{.identity = {"another", "web", "shop"}, .static_uid = kUid}});
  Run(20);
  ASSERT_EQ(latest_->pods.rows(), 1U);
  EXPECT_EQ(Pod().id, kUid);
  EXPECT_EQ(Pod().name, "web");
}

TEST_F(NodeTickPods, LastLabelRemoved_IsGone) {
  Learn("web", "server", {{"tier", "front"}});
  Run(20);
  Learn("web", "server");
  Run(20);
  EXPECT_TRUE(Pod().labels->empty());
}

}  // namespace
}  // namespace kepler::pipeline
