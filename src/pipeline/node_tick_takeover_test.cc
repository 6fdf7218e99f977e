// Another activity source takes over while the agent runs: accounts go on, numbers begin again.
#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::State;
using snapshot::Unlisted;
using std::chrono::milliseconds;

size_t RowOf(const snapshot::Snapshot& s, int pid) {
  for (size_t row = 0; row < s.processes.rows(); ++row)
    if (s.processes.identity[row]->pid == pid) return row;
  ADD_FAILURE() << "no series of pid " << pid;
  return 0;
}
int64_t JoulesOf(const snapshot::Snapshot& s, int pid) { return Joules(s.processes.energy_at(RowOf(s, pid), 0)); }

TEST(NodeTickTakeover, WhoLivesOn_GoesOnUnderItsNewSlot) {
  TestNode node;
  for (const activity::Slot slot : {0u, 1u, 2u}) node.activity.Start(slot, 10 + static_cast<int>(slot), "x", kBox);
  node.Second(0);
  for (auto& [slot, process] : node.activity.processes) process.cpu = milliseconds(100);
  node.Second(60);  // 30 J active: 10 each
  // Slot 0 is pid 12 now, pid 10 is slot 7; pid 11 ended in between, and pid 13 has come.
  node.activity.processes.clear();
  node.activity.Start(0, 12, "x", kBox).cpu = milliseconds(100);
  node.activity.Start(7, 10, "x", kBox).cpu = milliseconds(100);
  node.activity.Start(1, 13, "x", kBox).cpu = milliseconds(100);
  node.activity.exited.push_back({.slot = 1, .cpu = milliseconds(100)});
  node.activity.renumbered = true;
  node.activity.moved = {{2, 0}, {0, 7}};
  node.Second(80);  // 40 J active
  const auto s = node.Latest();
  EXPECT_EQ(JoulesOf(*s, 10), 20);
  EXPECT_EQ(JoulesOf(*s, 11), 20);
  EXPECT_EQ(JoulesOf(*s, 12), 20);
  EXPECT_EQ(JoulesOf(*s, 13), 10);
  EXPECT_EQ(s->processes.state[RowOf(*s, 11)], State::kTerminated);
  EXPECT_EQ(s->processes.state[RowOf(*s, 10)], State::kRunning);
  EXPECT_EQ(Joules(s->containers.energy_at(0, 0)), 70);
  EXPECT_EQ(Joules(s->unattributed[0]), 0);
  EXPECT_EQ(Unlisted0(*s, Level::kProcess, Unlisted::kDeparted), 0) << "no series began again";
  ExpectConserved(*s);
  for (auto& [slot, process] : node.activity.processes) process.cpu = milliseconds(100);
  node.Second(60);
  EXPECT_EQ(JoulesOf(*node.Latest(), 10), 30);
  ExpectConserved(*node.Latest());
}

TEST(NodeTickTakeover, WhoIsNotFoundAgain_Ends) {
  TestNode node;
  node.activity.Start(0, 10, "x");
  node.Second(0, 0, milliseconds(100));
  node.Second(60, 0, milliseconds(100));
  node.activity.processes.clear();
  node.activity.Start(0, 11, "y");
  node.activity.renumbered = true;
  node.Second(0);
  const auto s = node.Latest();
  EXPECT_EQ(JoulesOf(*s, 10), 30);
  EXPECT_EQ(s->processes.state[RowOf(*s, 10)], State::kTerminated);
  EXPECT_EQ(JoulesOf(*s, 11), 0);
  ExpectConserved(*s);
}

TEST(NodeTickTakeover, CgroupsOfTheLastWordsAndOfTheNewSource_AreTheirContainers) {
  TestNode node;
  const cgroup::Membership box({{0, "", kBox}}, cgroup::OwnerOfPath(kBox));
  const cgroup::Membership other({{0, "", kOther}}, cgroup::OwnerOfPath(kOther));
  const auto container = [&](const std::string& path) {
    const auto s = node.Latest();
    for (size_t row = 0; row < s->containers.rows(); ++row)
      if (path.ends_with(s->containers.identity[row]->id)) return Joules(s->containers.energy_at(row, 0));
    return int64_t{0};
  };
  node.Second(0);
  node.activity.residuals = {{kBox, milliseconds(100)}};
  node.activity.short_lived.push_back(ShortLived(100, box, milliseconds(100)));
  node.Second(40);
  EXPECT_EQ(container(kBox), 20);
  // The last words of the old source.
  node.activity.short_lived.push_back(ShortLived(101, box, milliseconds(100)));
  node.activity.residuals = {{kOther, milliseconds(100)}};
  node.activity.renumbered = true;
  node.Second(40);
  EXPECT_EQ(container(kBox), 30);
  EXPECT_EQ(container(kOther), 10);
  node.activity.short_lived.push_back(ShortLived(102, other, milliseconds(100)));
  node.Second(20);
  EXPECT_EQ(container(kOther), 20);
  ExpectConserved(*node.Latest());
}

}  // namespace
}  // namespace kepler::pipeline
