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

TEST_F(NodeTickPods, NamesThatComeLate_OldSeriesDepartsItsJoulesStay) {
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

TEST_F(NodeTickPods, SameNamesInANewVersion_SeriesGoOn) {
  Learn("web", "server", {{"tier", "front"}});
  Run(20);
  Learn("web", "server", {{"tier", "front"}});
  Run(20);
  EXPECT_EQ(Joules(latest_->pods.energy_at(0, 0)), 20);
  EXPECT_EQ(Joules(latest_->containers.energy_at(0, 0)), 20);
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
