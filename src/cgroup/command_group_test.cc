#include "cgroup/command_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "cgroup/owner.h"
#include "os/file.h"
#include "testing/fake_tree.h"

namespace kepler::cgroup {
namespace {

using ::testing::HasSubstr;

/// A machine in hybrid mode. This process is in /a of both trees.
class CommandGroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.Write("proc/self/cgroup", "3:cpu,cpuacct:/a\n1:name=systemd:/elsewhere\n0::/a\n");
    tree_.Write("fs/cgroup/unified/cgroup.controllers", "");
    tree_.Write("fs/cgroup/cpuacct/cpuacct.usage", "0\n");
    for (const std::string& dir : kOwn) tree_.Write(dir + "/cgroup.procs", std::to_string(::getpid()) + "\n");
  }
  Result<CommandGroup> Create() { return CommandGroup::Create(tree_.root(), tree_.Path("proc"), "make-7"); }
  bool IsThere(const std::string& path) { return ::access(tree_.Path(path).c_str(), F_OK) == 0; }

  const std::vector<std::string> kOwn = {"fs/cgroup/unified/a", "fs/cgroup/cpuacct/a"};
  testing::FakeTree tree_;
};

TEST_F(CommandGroupTest, IsBelowThisProcessInEveryTree_AndGoesAway) {
  {
    const auto group = Create();
    ASSERT_TRUE(group) << group.error().message;
    for (const std::string& own : kOwn) EXPECT_TRUE(IsThere(own + "/kepler-run-make-7"));
    EXPECT_EQ(group->processes(), 0u);
  }
  for (const std::string& own : kOwn) EXPECT_FALSE(IsThere(own + "/kepler-run-make-7"));
}

TEST_F(CommandGroupTest, TakesProcesses) {
  const auto group = Create();
  ASSERT_TRUE(group);
  for (const std::string& own : kOwn) tree_.Write(own + "/kepler-run-make-7/cgroup.procs", "");
  ASSERT_TRUE(group->Add(42));
  for (const std::string& own : kOwn) {
    EXPECT_EQ(*os::ReadWholeFile(tree_.Path(own + "/kepler-run-make-7/cgroup.procs")), "42");
    tree_.Write(own + "/kepler-run-make-7/cgroup.procs", "42\n43\n");
  }
  EXPECT_EQ(group->processes(), 2u);
  EXPECT_EQ(group->usage(), Nanoseconds(0)) << "it cannot be read";
  tree_.Write(kOwn[0] + "/kepler-run-make-7/cpu.stat", "usage_usec 5\n");
  EXPECT_EQ(group->usage(), std::chrono::microseconds(5));
  tree_.Remove(kOwn[0] + "/kepler-run-make-7/cpu.stat");
  for (const std::string& own : kOwn) tree_.Remove(own + "/kepler-run-make-7/cgroup.procs");
  EXPECT_FALSE(group->Add(42));
}

TEST_F(CommandGroupTest, CannotBeMade_SaysWhere) {
  ASSERT_TRUE(Create());
  tree_.MakeDir("fs/cgroup/cpuacct/a/kepler-run-make-7");
  const auto again = Create();
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("cpuacct/a/kepler-run-make-7"));
  EXPECT_FALSE(IsThere("fs/cgroup/unified/a/kepler-run-make-7")) << "what was made is removed";
  tree_.Remove("proc/self/cgroup");
  EXPECT_EQ(Create().error().kind, ErrorKind::kUnavailable);
}

TEST_F(CommandGroupTest, OfAnOwnerThatWasKilled_IsRemoved) {
  for (const std::string& own : kOwn) tree_.MakeDir(own + "/kepler-run-make-7");
  tree_.MakeDir("fs/cgroup/unified/elsewhere/kepler-run-sh-8");
  tree_.MakeDir("fs/cgroup/unified/a/kepler-runner-9");
  tree_.MakeDir("fs/cgroup/unified/a/kepler-run-x");
  CommandGroup::RemoveAbandoned(tree_.root(), tree_.Path("proc"));
  for (const std::string& own : kOwn) EXPECT_FALSE(IsThere(own + "/kepler-run-make-7"));
  EXPECT_FALSE(IsThere("fs/cgroup/unified/elsewhere/kepler-run-sh-8"));
  EXPECT_TRUE(IsThere("fs/cgroup/unified/a/kepler-runner-9"));
  EXPECT_TRUE(IsThere("fs/cgroup/unified/a/kepler-run-x")) << "no name of kepler run";
}

TEST_F(CommandGroupTest, InUse_IsNotRemoved) {
  const auto group = Create();
  ASSERT_TRUE(group);
  tree_.MakeDir("fs/cgroup/unified/a/kepler-run-make-8");
  tree_.MakeDir("proc/8");
  tree_.MakeDir("fs/cgroup/unified/a/kepler-run-make-9/inside");
  CommandGroup::RemoveAbandoned(tree_.root(), tree_.Path("proc"));
  EXPECT_TRUE(IsThere("fs/cgroup/unified/a/kepler-run-make-7")) << "its owner lives";
  EXPECT_TRUE(IsThere("fs/cgroup/unified/a/kepler-run-make-8")) << "its command lives";
  EXPECT_TRUE(IsThere("fs/cgroup/unified/a/kepler-run-make-9")) << "it is not empty";
}

TEST(CommandId, IsAPlainNameThatTheRulesOfPathsRead) {
  EXPECT_EQ(CommandId("/usr/bin/stress-ng", 12), "stress_ng-12");
  EXPECT_EQ(CommandId("a b/\"\\x2d\n", 1), "__x2d_-1");
  EXPECT_EQ(CommandId(std::string(1'000, 'x'), 1).size(), 102u);
  const Owner owner = OwnerOfPath("/x/kepler-run-" + CommandId("./run.sh", 5));
  ASSERT_TRUE(owner.container.has_value());
  EXPECT_EQ(owner.container->runtime, kCommandRuntime);
  EXPECT_EQ(owner.container->id, "run.sh-5");
}

}  // namespace
}  // namespace kepler::cgroup
