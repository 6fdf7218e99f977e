// Processes that come and go between two scans, and last slices.
#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"
#include "pipeline/node_tick.h"

namespace kepler::pipeline {
namespace {

using snapshot::Level;
using snapshot::Unlisted;
using std::chrono::milliseconds;

TEST(NodeTick, ShortLived_AreTheirContainers) {
  TestNode node;
  const cgroup::Membership box({{0, "", kBox}}, cgroup::OwnerOfPath(kBox));
  const cgroup::Membership none({{0, "", "/"}}, cgroup::OwnerOfPath("/"));
  node.Second(0);
  for (int32_t pid = 100; pid < 104; ++pid) node.activity.short_lived.push_back(ShortLived(pid, box, milliseconds(1)));
  node.activity.short_lived.push_back(ShortLived(104, none, milliseconds(1)));
  node.Second(10);
  const auto s = node.Latest();
  ASSERT_EQ(s->containers.rows(), 1u);
  EXPECT_EQ(s->containers.identity[0]->runtime, "docker");
  EXPECT_EQ(s->containers.state[0], snapshot::State::kRunning);
  EXPECT_EQ(Joules(s->containers.energy_at(0, 0)), 4);
  EXPECT_EQ(Unlisted0(*s, Level::kContainer, Unlisted::kOutside), 1);
  EXPECT_EQ(Unlisted0(*s, Level::kProcess, Unlisted::kCapped), 5);
  EXPECT_EQ(s->processes.rows(), 0u);
  ExpectConserved(*s);
}

TEST(NodeTick, ShortLivedWorthASeries_IsListedWithItsLabels) {
  TestNode node({std::chrono::minutes(2), Energy::Joules(3), 500});
  const cgroup::Membership box({{0, "", kBox}}, cgroup::OwnerOfPath(kBox));
  node.Second(0);
  node.activity.short_lived.push_back(ShortLived(98, box, milliseconds(0)));
  node.activity.short_lived.push_back(ShortLived(100, box, milliseconds(1)));
  node.Second(10);
  const auto s = node.Latest();
  ASSERT_EQ(s->processes.rows(), 1u);
  EXPECT_EQ(*s->processes.identity[0],
            (snapshot::ProcessIdentity{100, "true", "/bin/true", "container", std::string(64, 'a'), ""}));
  EXPECT_EQ(s->processes.state[0], snapshot::State::kTerminated);
  ExpectConserved(*s);
}

TEST(NodeTick, ShortLivedInANamedContainer_NameStays) {
  TestNode node;
  node.proc.Write("10/environ", std::string("HOSTNAME=web\0", 13));
  node.proc.Write("10/status", "Uid:\t0\t0\t0\t0\n");
  const cgroup::Membership box({{0, "", kBox}}, cgroup::OwnerOfPath(kBox));
  node.activity.Start(0, 10, "a", kBox);
  node.Second(0);
  node.activity.short_lived.push_back(ShortLived(100, box, milliseconds(1)));
  node.Second(10);
  const auto s = node.Latest();
  ASSERT_EQ(s->containers.rows(), 1u);
  EXPECT_EQ(s->containers.identity[0]->name, "web");
  EXPECT_EQ(Joules(s->containers.energy_at(0, 0)), 5);
}

TEST(NodeTick, ExecAndEndInOneTick_OldSeriesDepartsLastSliceIsTheNewOnes) {
  TestNode node({std::chrono::minutes(2), Energy::Joules(2), 500});
  node.activity.Start(0, 10, "sh", kBox);
  node.Second(0);
  node.Second(20, 0, milliseconds(400));
  cgroup::ProcessInfo last = node.activity.processes[0].info;
  last.comm = "java";
  node.activity.processes.erase(0);
  node.activity.exited.push_back({0, milliseconds(100), {}, &last, 2});
  node.Second(8);
  const auto s = node.Latest();
  ASSERT_EQ(s->processes.rows(), 1u);
  EXPECT_EQ(s->processes.identity[0]->comm, "java");
  EXPECT_EQ(s->processes.identity[0]->type, "container");
  EXPECT_EQ(s->processes.state[0], snapshot::State::kTerminated);
  EXPECT_EQ(Joules(s->processes.energy_at(0, 0)), 4);
  EXPECT_EQ(Unlisted0(*s, Level::kProcess, Unlisted::kDeparted), 10);
  EXPECT_EQ(Joules(s->containers.energy_at(0, 0)), 14);
  ExpectConserved(*s);
}

TEST(NodeTick, VmEndsUnderAnotherName_LastSliceIsTheVms) {
  TestNode node({std::chrono::minutes(2), Energy::Joules(2), 500});
  constexpr char kArguments[] = "/usr/bin/qemu-system-x86_64\0-name\0guest=one\0-uuid\0u-1\0-enable-kvm\0";
  node.proc.Write("10/cmdline", std::string(kArguments, sizeof kArguments - 1));
  node.proc.Write("10/status", "Uid:\t0\t0\t0\t0\n");
  auto& vm = node.activity.Start(0, 10, "qemu-system-x86", "/");
  vm.info.exe = "/usr/bin/qemu-system-x86_64";
  node.Second(0);
  ASSERT_EQ(node.Latest(), nullptr);
  node.Second(20, 0, milliseconds(400));
  ASSERT_EQ(node.Latest()->vms.rows(), 1u);
  cgroup::ProcessInfo last = node.activity.processes[0].info;
  last.comm = "dying";
  node.proc.Remove("10");
  node.activity.processes.erase(0);
  node.activity.exited.push_back({0, milliseconds(100), {}, &last, 2});
  node.Second(8);
  const auto s = node.Latest();
  ASSERT_EQ(s->vms.rows(), 1u);
  EXPECT_EQ(Joules(s->vms.energy_at(0, 0)), 14);
  ExpectConserved(*s);
}

}  // namespace
}  // namespace kepler::pipeline
