#include "export/api/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

using snapshot::Level;
using ::testing::ElementsAre;

/// A pod with two processes in a container, a VM's process, and one of the host.
snapshot::Snapshot Node() {
  auto s = testing::EmptySnapshot({"package", "dram"});
  s.namespaces.zones = s.owners.zones = 2;
  const auto row = [&](auto& table, auto identity, int64_t joules, double watts, int cpu) {
    testing::AddRow(table, std::move(identity), {Energy::Joules(joules), Energy::Joules(1)}, {watts, 0.5},
                    std::chrono::seconds(cpu));
  };
  row(s.processes, testing::Process(30, "nginx", "/usr/sbin/nginx", "c1"), 10, 2.0, 5);
  row(s.processes, testing::Process(4, "nginx", "/usr/sbin/nginx", "c1"), 20, 2.0, 3);
  row(s.processes, testing::Process(200, "sshd", "/usr/sbin/sshd"), 30, 1.0, 9);
  row(s.processes, snapshot::ProcessIdentity{7, "qemu", "", "vm", "", "vm-7"}, 5, 9.0, 1);
  row(s.containers, snapshot::ContainerIdentity{"c1", "web", "containerd", "p1"}, 30, 4.0, 8);
  row(s.containers, snapshot::ContainerIdentity{"c2", "db", "docker", ""}, 31, 3.0, 8);
  row(s.vms, snapshot::VmIdentity{"vm-7", "guest", "kvm", {.instance_name = "Till", .project_name = "Finance"}}, 5, 9.0,
      1);
  row(s.pods, snapshot::PodIdentity{.id = "p1", .name = "shop-0", .name_space = "Shop"}, 30, 4.0, 8);
  row(s.pods, snapshot::PodIdentity{.id = "p2", .name = "shop-1", .name_space = "Shop"}, 3, 0.5, 8);
  row(s.pods, snapshot::PodIdentity{.id = "p3", .name = "dns", .name_space = "kube-system"}, 9, 0.25, 8);
  for (const char* name : {"Shop", "kube-system"}) {
    s.namespaces.identity.push_back(std::make_shared<const snapshot::OwnerIdentity>(snapshot::OwnerIdentity{name}));
    s.namespaces.energy.insert(s.namespaces.energy.end(), {Energy::Joules(40), Energy::Joules(2)});
    s.namespaces.begin.emplace_back();
  }
  return s;
}

std::vector<std::string> Ids(const snapshot::Snapshot& snapshot, Query query) {
  if (query.limit == 0) query.limit = kMaxRows;
  const Workloads workloads(snapshot, query.level);
  std::vector<std::string> ids;
  for (const size_t row : workloads.Find(query).rows) ids.push_back(workloads.NamesOf(row).id);
  return ids;
}

TEST(Workloads, SortedDescending_TiesById) {
  const auto node = Node();
  EXPECT_THAT(Ids(node, {}), ElementsAre("7", "4", "30", "200"));
  EXPECT_THAT(Ids(node, {.sort = Sort::kJoules}), ElementsAre("200", "4", "30", "7"));
  EXPECT_THAT(Ids(node, {.sort = Sort::kCpu}), ElementsAre("200", "30", "4", "7"));
  EXPECT_THAT(Ids(node, {.level = Level::kPod, .sort = Sort::kCpu}), ElementsAre("p1", "p2", "p3"));
  EXPECT_THAT(Ids(node, {.level = Level::kNamespace, .sort = Sort::kCpu}), ElementsAre("Shop", "kube-system"));
}

TEST(Workloads, LimitKeepsTheFirst_AndCountsTheOthers) {
  const auto node = Node();
  EXPECT_THAT(Ids(node, {.limit = 2}), ElementsAre("7", "4"));
  EXPECT_EQ(Workloads(node, Level::kProcess).Find({.limit = 1}).matching, 4u);
}

TEST(Workloads, SearchFindsAnyNameInAnyCase) {
  const auto node = Node();
  EXPECT_THAT(Ids(node, {.search = "NGINX"}), ElementsAre("4", "30"));
  EXPECT_THAT(Ids(node, {.search = "shop-0"}), ElementsAre("4", "30")) << "the pod of the process";
  EXPECT_THAT(Ids(node, {.search = "web"}), ElementsAre("4", "30")) << "its container";
  EXPECT_THAT(Ids(node, {.search = "sbin/SSH"}), ElementsAre("200"));
  EXPECT_THAT(Ids(node, {.search = "200"}), ElementsAre("200"));
  for (const char* text : {"guest", "till", "finance"})
    EXPECT_THAT(Ids(node, {.level = Level::kVm, .search = text}), ElementsAre("vm-7")) << text;
  EXPECT_THAT(Ids(node, {.level = Level::kContainer, .search = "docker"}), ElementsAre("c2"));
  EXPECT_THAT(Ids(node, {.level = Level::kNamespace, .search = "shop"}), ElementsAre("Shop"));
  EXPECT_THAT(Ids(node, {.search = "\xff"}), ElementsAre());
}

TEST(Workloads, UnderSelectsTheParent) {
  const auto node = Node();
  EXPECT_THAT(Ids(node, {.under = "c1"}), ElementsAre("4", "30"));
  EXPECT_THAT(Ids(node, {.under = "p1"}), ElementsAre("4", "30"));
  EXPECT_THAT(Ids(node, {.under = "vm-7"}), ElementsAre("7"));
  EXPECT_THAT(Ids(node, {.level = Level::kContainer, .under = "p1"}), ElementsAre("c1"));
  EXPECT_THAT(Ids(node, {.level = Level::kPod, .under = "Shop"}), ElementsAre("p1", "p2"));
  EXPECT_THAT(Ids(node, {.under = "c9"}), ElementsAre());
}

TEST(Workloads, NamesOfParents_AndWattsOfNamespaces) {
  const auto node = Node();
  const Names process = Workloads(node, Level::kProcess).NamesOf(0);
  EXPECT_EQ(process.pid, 30);
  EXPECT_EQ(process.container, "web");
  EXPECT_EQ(process.pod, "shop-0");
  EXPECT_EQ(process.name_space, "Shop");
  const Workloads spaces(node, Level::kNamespace);
  EXPECT_EQ(spaces.watts(0, 0), 4.5);
  EXPECT_EQ(spaces.watts(1, 0), 0.25);
  EXPECT_FALSE(spaces.has_cpu());
  EXPECT_TRUE(spaces.IsRunning(0));
}

TEST(Workloads, UnknownParents_AreLeftOut) {
  auto node = testing::EmptySnapshot({"package"});
  testing::AddRow(node.processes, testing::Process(1, "a", "", "gone"));
  testing::AddRow(node.containers, snapshot::ContainerIdentity{"c", "n", "docker", "gone"});
  EXPECT_EQ(Workloads(node, Level::kProcess).NamesOf(0).container_id, "gone");
  EXPECT_EQ(Workloads(node, Level::kProcess).NamesOf(0).container, "");
  EXPECT_EQ(Workloads(node, Level::kContainer).NamesOf(0).pod_id, "gone");
  EXPECT_EQ(Workloads(node, Level::kContainer).NamesOf(0).pod, "");
}

/// The rows of a workload whose labels changed.
TEST(Workloads, TwoRowsOfOneId_EachHasItsOwnNames_AndTheRunningOneNamesItsParts) {
  using snapshot::State;
  for (const bool ended_first : {true, false}) {
    auto s = testing::EmptySnapshot({"package"});
    const auto row = [&](State state, const std::string& name, const std::string& pod) {
      testing::AddRow(s.containers, snapshot::ContainerIdentity{"c1", name, "docker", "p1", pod, "Shop"}, {}, {}, {},
                      state);
      testing::AddRow(s.pods, snapshot::PodIdentity{.id = "p1", .name = pod}, {}, {}, {}, state);
    };
    if (ended_first) row(State::kTerminated, "old", "pod-old");
    row(State::kRunning, "new", "pod-new");
    if (!ended_first) row(State::kTerminated, "old", "pod-old");
    testing::AddRow(s.processes, testing::Process(7, "nginx", "", "c1"));

    const Workloads containers(s, Level::kContainer);
    const Names ended = containers.NamesOf(ended_first ? 0 : 1), running = containers.NamesOf(ended_first ? 1 : 0);
    EXPECT_EQ(ended.name, "old");
    EXPECT_EQ(ended.container, "old");
    EXPECT_EQ(ended.pod, "pod-old") << "as its labels say";
    EXPECT_EQ(running.name, "new");
    EXPECT_EQ(running.pod, "pod-new");
    EXPECT_EQ(running.name_space, "Shop");
    const Names process = Workloads(s, Level::kProcess).NamesOf(0);
    EXPECT_EQ(process.container, "new");
    EXPECT_EQ(process.pod, "pod-new");
  }
}

}  // namespace
}  // namespace kepler::api
