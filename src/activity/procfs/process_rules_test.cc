// Which process gets which time, and what is known about it: ProcfsSource on a /proc made of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "activity/procfs/fake_machine.h"

namespace kepler::activity::procfs {
namespace {

using ::testing::HasSubstr;

class ProcessRules : public ::testing::Test {
 protected:
  FakeMachine m;
};

TEST_F(ProcessRules, FirstLook_EverybodyCountsZero) {
  m.Put({.pid = 10, .ticks = 5000});
  m.Put({.pid = 9, .ticks = 7, .start = m.NowTicks()});
  const auto& sample = m.Look();
  ASSERT_EQ(sample.processes.size(), 2U);
  EXPECT_EQ(sample.processes[0].info->key.tgid, 9) << "ascending pid";
  EXPECT_EQ(m.TicksOf(9), 0);
  EXPECT_EQ(m.TicksOf(10), 0);
}

TEST_F(ProcessRules, KnownProcess_CountsWhatItUsedSinceTheLastLook) {
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  m.Put({.pid = 10, .ticks = 130});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 30);
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 0) << "idle ones are listed too";
}

TEST_F(ProcessRules, ChildrenTime_IsNotCounted) {
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  m.Put({.pid = 10, .ticks = 101, .child_ticks = 5000});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 1);
}

TEST_F(ProcessRules, StartedSinceTheLastLook_CountsItsWholeLife) {
  m.Put({.pid = 1});
  m.Look();
  m.Put({.pid = 10, .ticks = 44, .start = m.NowTicks() + 1});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 44);
}

TEST_F(ProcessRules, StartedInTheTickOfTheLastLook_CountsItsWholeLife) {
  m.Put({.pid = 1});
  m.Look();
  m.Put({.pid = 10, .ticks = 44, .start = m.NowTicks()});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 44);
}

TEST_F(ProcessRules, StartedBeforeTheLastLookButNotSeen_CountsZeroThenNormally) {
  m.Put({.pid = 1});
  m.Look();
  m.Put({.pid = 10, .ticks = 44, .start = m.NowTicks() - 2});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 0);
  m.Put({.pid = 10, .ticks = 46, .start = m.NowTicks() - 502});
  m.Look();
  EXPECT_EQ(m.Find(10)->info->key.tgid, 10);
}

TEST_F(ProcessRules, EndedProcess_IsReportedOnceAndItsSlotWaitsOneLook) {
  m.Put({.pid = 1});
  m.Put({.pid = 10});
  m.Look();
  const Slot slot = m.Find(10)->slot;
  m.End(10);
  m.Put({.pid = 11, .start = m.NowTicks()});
  m.Look();
  ASSERT_EQ(m.sample.exited.size(), 1U);
  EXPECT_EQ(m.sample.exited[0].slot, slot);
  EXPECT_EQ(m.sample.exited[0].cpu, Nanoseconds{0});
  EXPECT_NE(m.Find(11)->slot, slot);
  m.Put({.pid = 12, .start = m.NowTicks()});
  m.Look();
  EXPECT_TRUE(m.sample.exited.empty());
  EXPECT_EQ(m.Find(12)->slot, slot);
}

TEST_F(ProcessRules, SlotOfALivingProcess_NeverChanges) {
  m.Put({.pid = 50});
  m.Look();
  const Slot slot = m.Find(50)->slot;
  for (int pid : {10, 90, 20}) {
    m.Put({.pid = pid, .start = m.NowTicks()});
    m.Look();
    EXPECT_EQ(m.Find(50)->slot, slot);
  }
}

TEST_F(ProcessRules, PidReused_InheritsNothing) {
  m.Put({.pid = 1});
  m.Put({.pid = 10, .ticks = 1000, .comm = "old"});
  m.Look();
  const Slot slot = m.Find(10)->slot;
  const uint32_t version = m.Find(10)->version;
  m.tree.Reincarnate("proc/10");
  m.Put({.pid = 10, .ticks = 1200, .start = m.NowTicks() + 3, .comm = "new"});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 1200) << "its own whole life, not the difference to the dead one";
  EXPECT_EQ(m.Find(10)->info->comm, "new");
  EXPECT_NE(m.Find(10)->slot, slot);
  EXPECT_GT(m.Find(10)->version, 0U);
  EXPECT_GT(version, 0U);
  ASSERT_EQ(m.sample.exited.size(), 1U);
  EXPECT_EQ(m.sample.exited[0].slot, slot);
}

TEST_F(ProcessRules, NewInodeButSameStart_IsTheSameProcess) {
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  const Slot slot = m.Find(10)->slot;
  m.tree.Reincarnate("proc/10");
  m.Put({.pid = 10, .ticks = 103});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 3);
  EXPECT_EQ(m.Find(10)->slot, slot);
  EXPECT_TRUE(m.sample.exited.empty());
}

TEST_F(ProcessRules, ClockThatFell_CountsZeroUntilItHasPassedTheOldValue) {
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  m.Put({.pid = 10, .ticks = 90});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 0);
  EXPECT_TRUE(m.sample.exited.empty());
  m.Put({.pid = 10, .ticks = 101});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 1);
}

TEST_F(ProcessRules, VanishesBetweenListAndStat_IsSkippedAndCounted) {
  m.Put({.pid = 1});
  m.Look();
  m.tree.MakeDir("proc/10");
  m.Look();
  EXPECT_EQ(m.last_error, "");
  EXPECT_EQ(m.Find(10), nullptr);
  EXPECT_EQ(m.source().Health().processes_skipped, 1U);
}

TEST_F(ProcessRules, KnownOneVanishesBetweenListAndStat_HasExited) {
  m.Put({.pid = 1});
  m.Put({.pid = 10});
  m.Look();
  m.tree.Remove("proc/10/stat");
  m.Look();
  EXPECT_EQ(m.sample.exited.size(), 1U);
  EXPECT_EQ(m.Find(10), nullptr);
}

TEST_F(ProcessRules, MalformedStat_CostsOnlyThatReading) {
  m.Put({.pid = 1, .ticks = 5});
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  const Slot slot = m.Find(10)->slot;
  m.Put({.pid = 1, .ticks = 6});
  m.tree.Write("proc/10/stat", "10 (task");
  m.Look();
  EXPECT_EQ(m.TicksOf(1), 1);
  EXPECT_EQ(m.TicksOf(10), 0) << "it stays who it was";
  EXPECT_GE(m.source().Health().reads_failed, 1U);
  m.Put({.pid = 10, .ticks = 107});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 7) << "not the whole life: it was known";
  EXPECT_EQ(m.Find(10)->slot, slot);
}

TEST_F(ProcessRules, UnreadableStatOfANewProcess_IsSkippedAndCounted) {
  m.PutKernelThread();
  m.tree.Write("proc/10/stat", "garbage");
  m.Look();
  EXPECT_EQ(m.Find(10), nullptr);
  EXPECT_EQ(m.source().Health().reads_failed, 1U);
}

TEST_F(ProcessRules, MissingExeAndCgroup_AreEmptyNotAnError) {
  m.Put({.pid = 10, .exe = ""});
  m.tree.Remove("proc/10/cgroup");
  m.Look();
  ASSERT_NE(m.Find(10), nullptr);
  EXPECT_EQ(m.Find(10)->info->exe, "");
  ASSERT_NE(m.Find(10)->info->cgroup, nullptr);
  EXPECT_TRUE(m.Find(10)->info->cgroup->lines.empty());
}

TEST_F(ProcessRules, ExeThatCannotBeRead_IsEmptyAndCounted) {
  m.Put({.pid = 10, .exe = ""});
  m.tree.MakeDir("proc/10/exe");
  m.Look();
  EXPECT_EQ(m.Find(10)->info->exe, "");
  EXPECT_GE(m.source().Health().reads_failed, 1U);
}

TEST_F(ProcessRules, DeletedExe_LosesTheSuffix) {
  m.Put({.pid = 10, .exe = "/bin/old (deleted)"});
  m.Look();
  EXPECT_EQ(m.Find(10)->info->exe, "/bin/old");
}

TEST_F(ProcessRules, KernelThread_IsThereWithoutExe) {
  m.PutKernelThread();
  m.Look();
  ASSERT_NE(m.Find(2), nullptr);
  EXPECT_TRUE(m.Find(2)->info->kernel_thread);
  EXPECT_EQ(m.Find(2)->info->exe, "");
  EXPECT_EQ(m.Find(2)->info->comm, "kthreadd");
}

TEST_F(ProcessRules, KernelWorker_KeepsOneNameWhateverItDoes) {
  m.PutKernelThread("kworker/0:1-events");
  m.Look();
  EXPECT_EQ(m.Find(2)->info->comm, "kworker/0:1");
  const uint32_t version = m.Find(2)->version;
  m.PutKernelThread("kworker/0:1+mm_percpu_wq");
  m.Look();
  EXPECT_EQ(m.Find(2)->version, version);
  m.PutKernelThread("kworker/R-netns");
  m.Look();
  EXPECT_EQ(m.Find(2)->info->comm, "kworker/R-netns");
}

TEST_F(ProcessRules, NewProcess_LabelsAreReadAgainAtTheSecondLook) {
  m.Put({.pid = 1});
  m.Look();
  m.Put({.pid = 10, .start = m.NowTicks(), .cgroup = "0::/shim\n", .comm = "runc", .exe = "/bin/runc"});
  m.Look();
  const uint32_t version = m.Find(10)->version;
  m.Put({.pid = 10, .start = m.NowTicks() - 500, .cgroup = "0::/box\n", .comm = "app", .exe = "/bin/app"});
  m.Look();
  EXPECT_EQ(m.Find(10)->info->comm, "app");
  EXPECT_EQ(m.Find(10)->info->exe, "/bin/app");
  EXPECT_EQ(m.Find(10)->info->cgroup->lines[0].path, "/box");
  EXPECT_GT(m.Find(10)->version, version);
}

TEST_F(ProcessRules, CpuUse_LabelsAreReadAgain_IdleOnesOnlyInRotation) {
  // More processes than one round of the rotation, the two that matter last.
  for (int pid = 1; pid <= 200; ++pid) m.Put({.pid = pid});
  m.Look();
  m.Put({.pid = 199, .comm = "moved"});
  m.Put({.pid = 200, .ticks = 1, .comm = "busy"});
  m.Look();
  EXPECT_EQ(m.Find(200)->info->comm, "busy");
  EXPECT_EQ(m.Find(199)->info->comm, "task");
  for (int look = 0; look < 13; ++look) m.Look();
  EXPECT_EQ(m.Find(199)->info->comm, "moved") << "200 processes, 16 a look: seen within 13";
}

TEST_F(ProcessRules, MoreBusyProcessesThanTheBound_EachGetsItsTurn) {
  constexpr int kProcesses = 400;
  for (int pid = 1; pid <= kProcesses; ++pid) m.Put({.pid = pid});
  m.Look();
  const auto renamed = [&] {
    return std::ranges::count_if(m.sample.processes, [](const auto& p) { return p.info->comm == "renamed"; });
  };
  for (uint64_t look = 1; look <= 2; ++look) {
    for (int pid = 1; pid <= kProcesses; ++pid) m.PutStat({.pid = pid, .ticks = look, .comm = "renamed"});
    m.Look();
    const auto most = static_cast<int64_t>(look) * (256 + 16);
    EXPECT_LE(renamed(), most);
    EXPECT_GE(renamed(), std::min<int64_t>(kProcesses, static_cast<int64_t>(look) * 256));
  }
  EXPECT_EQ(renamed(), kProcesses);
}

TEST_F(ProcessRules, UnchangedLabels_VersionStays) {
  m.Put({.pid = 10, .ticks = 1});
  m.Look();
  const uint32_t version = m.Find(10)->version;
  EXPECT_NE(version, 0U);
  m.Put({.pid = 10, .ticks = 2});
  m.Look();
  EXPECT_EQ(m.Find(10)->version, version);
}

TEST_F(ProcessRules, Zombie_KeepsWhatItWas) {
  m.SetV1("", Ticks(0));
  m.Put({.pid = 10, .cgroup = "2:cpuacct:/box\n0::/\n"});
  m.Look();
  const uint32_t version = m.Find(10)->version;
  m.tree.Remove("proc/10/exe");
  m.Put({.pid = 10, .ticks = 3, .cgroup = "2:cpuacct:/\n0::/\n", .exe = "", .flags = 4, .state = 'Z'});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 3);
  EXPECT_EQ(m.Find(10)->version, version);
  EXPECT_EQ(m.Find(10)->info->exe, "/bin/task");
  EXPECT_EQ(m.Find(10)->info->cgroup->lines[0].path, "/box");
}

TEST_F(ProcessRules, OneCgroup_OneMembershipObject) {
  m.Put({.pid = 10, .cgroup = "0::/a\n"});
  m.Put({.pid = 11, .cgroup = "0::/a\n"});
  m.Put({.pid = 12, .cgroup = "0::/b\n"});
  m.Look();
  EXPECT_EQ(m.Find(10)->info->cgroup, m.Find(11)->info->cgroup);
  EXPECT_NE(m.Find(10)->info->cgroup, m.Find(12)->info->cgroup);
}

TEST_F(ProcessRules, ProcfsMissing_IsAnErrorAndComesBack) {
  m.tree.Remove("proc");
  m.Look();
  EXPECT_THAT(m.last_error, HasSubstr(m.tree.Path("proc")));
  EXPECT_FALSE(m.source().Health().up);
  EXPECT_TRUE(m.sample.processes.empty());
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  EXPECT_EQ(m.last_error, "");
  EXPECT_TRUE(m.source().Health().up);
  EXPECT_EQ(m.source().Health().last_success, m.clock.Wall());
  EXPECT_EQ(m.TicksOf(10), 0) << "the first good look is the first";
}

TEST_F(ProcessRules, ProcfsReplaced_IsOpenedAgain) {
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  m.tree.Remove("proc");
  m.Look();
  EXPECT_NE(m.last_error, "");
  m.Look();
  EXPECT_NE(m.last_error, "");
  m.Put({.pid = 10, .ticks = 109});
  m.Look();
  EXPECT_EQ(m.last_error, "");
  EXPECT_TRUE(m.source().Health().up);
  EXPECT_EQ(m.TicksOf(10), 9) << "of all the time since the last good look";
}

TEST_F(ProcessRules, ProcfsWasEmptyAndIsReplaced_IsOpenedAgain) {
  m.Look();
  EXPECT_NE(m.last_error, "") << "mounted over later, the open directory would stay empty";
  m.tree.Remove("proc");
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  EXPECT_EQ(m.last_error, "");
  EXPECT_EQ(m.TicksOf(10), 0);
}

TEST_F(ProcessRules, NothingListed_IsAnErrorAndTheNextLookCoversTheTime) {
  m.Put({.pid = 10, .ticks = 100});
  m.Look();
  m.tree.Remove("proc/10");
  m.Look();
  EXPECT_NE(m.last_error, "");
  EXPECT_TRUE(m.sample.exited.empty());
  m.Put({.pid = 10, .ticks = 109});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 9);
}

TEST_F(ProcessRules, TakenAt_LiesWithinTheLook) {
  m.Put({.pid = 10});
  m.Look();
  EXPECT_EQ(m.sample.taken_at, m.clock.Now());
}

TEST_F(ProcessRules, AbsurdNumbersInStat_NeverGiveNegativeTime) {
  m.Put({.pid = 10, .ticks = UINT64_MAX});
  m.Put({.pid = 11});
  m.Look();
  m.Put({.pid = 10, .ticks = 5});
  m.Put({.pid = 12, .ticks = UINT64_MAX, .start = UINT64_MAX});
  m.Look();
  for (const auto& process : m.sample.processes) EXPECT_GE(process.cpu.count(), 0);
}

}  // namespace
}  // namespace kepler::activity::procfs
