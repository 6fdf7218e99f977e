// From processes with a user to energy by user, with the names of the host.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "pipeline/node_test_util.h"
#include "pipeline/node_tick.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

std::map<std::string, int64_t> JoulesByUser(const snapshot::Snapshot& s) {
  std::map<std::string, int64_t> users;
  for (size_t row = 0; row < s.users.rows(); ++row)
    users[std::to_string(s.users.identity[row]->uid) + s.users.identity[row]->name] = Joules(s.users.energy_at(row, 0));
  return users;
}

struct NamingNode : TestNode {
  explicit NamingNode(bool names_users) {
    proc.Write("1/root/etc/passwd", "alice:x:1000:1000::/home/alice:/bin/sh\n");
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, clock, proc.root()},
                                      attribution::RetentionPolicy{}, SplitOptions{},
                                      SeriesLimits{.names_users = names_users});
  }
};

TEST(NodeTick, EnergyByUser_OfLivingAndShortLivedProcesses) {
  NamingNode node(true);
  node.activity.Start(0, 10, "a").info.uid = 1000;
  node.activity.Start(1, 11, "b").info.uid = 1001;
  node.Second(0);
  const cgroup::Membership none({{0, "", "/"}}, cgroup::OwnerOfPath("/"));
  for (int32_t pid = 100; pid < 103; ++pid) {
    node.activity.short_lived.push_back(ShortLived(pid, none, milliseconds(1)));
    node.activity.short_lived.back().uid = 1000;
  }
  node.activity.processes[0].cpu = milliseconds(2);
  node.activity.processes[1].cpu = milliseconds(4);
  node.activity.residuals.emplace_back("/", milliseconds(1));
  node.Second(20);  // half of it is active
  const auto s = node.Latest();
  EXPECT_EQ(JoulesByUser(*s), (std::map<std::string, int64_t>{{"1000alice", 5}, {"1001", 4}}));
  EXPECT_EQ(Unlisted0(*s, Level::kUser, Unlisted::kUnseen), 1);
  ExpectConserved(*s);
}

TEST(NodeTick, UsersThatNothingShows_HaveNoNames) {
  NamingNode node(false);
  node.activity.Start(0, 10, "a").info.uid = 1000;
  node.Second(0);
  node.Second(10, 0, milliseconds(1));
  EXPECT_EQ(JoulesByUser(*node.Latest()), (std::map<std::string, int64_t>{{"1000", 5}}));
}

TEST(NodeTick, ProcessThatChangesItsUser_IsChargedToTheNewOne_AndItsSeriesGoesOn) {
  TestNode node;
  node.activity.Start(0, 10, "sshd").info.uid = 0;
  node.Second(0);
  node.Second(10, 0, milliseconds(1));
  node.activity.processes[0].info.uid = 1000;
  ++node.activity.processes[0].version;
  node.Second(4, 0, milliseconds(1));
  const auto s = node.Latest();
  EXPECT_EQ(JoulesByUser(*s), (std::map<std::string, int64_t>{{"0", 5}, {"1000", 2}}));
  EXPECT_EQ(Joules(s->processes.energy_at(0, 0)), 7);
  ExpectConserved(*s);
}

}  // namespace
}  // namespace kepler::pipeline
