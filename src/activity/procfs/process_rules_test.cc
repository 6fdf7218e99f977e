// Which process gets which time, and what is known about it: ProcfsSource on a /proc made of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "activity/procfs/fake_machine.h"

namespace kepler::activity::procfs {
namespace {

using ::testing::HasSubstr;

class ProcessRules : public ::testing::Test {
 protected:
  FakeMachine machine_;
};

TEST_F(ProcessRules, FirstScan_EverybodyCountsZero) {
  machine_.Put({.pid = 10, .ticks = 5000});
  machine_.Put({.pid = 9, .ticks = 7, .start = machine_.NowTicks()});
  const auto& sample = machine_.Scan();
  ASSERT_EQ(sample.processes.size(), 2U);
  EXPECT_EQ(sample.processes[0].info->key.tgid, 9) << "ascending pid";
  EXPECT_EQ(machine_.TicksOf(9), 0);
  EXPECT_EQ(machine_.TicksOf(10), 0);
}

TEST_F(ProcessRules, KnownProcess_CountsWhatItUsedSinceTheLastScan) {
  machine_.ScanWith({.pid = 10, .ticks = 100});
  machine_.Put({.pid = 10, .ticks = 130});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 30);
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 0) << "idle ones are listed too";
}

TEST_F(ProcessRules, ChildrenTime_IsNotCounted) {
  machine_.ScanWith({.pid = 10, .ticks = 100});
  machine_.Put({.pid = 10, .ticks = 101, .child_ticks = 5000});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 1);
}

TEST_F(ProcessRules, StartedSinceTheLastScan_CountsItsWholeLife) {
  machine_.ScanWith({.pid = 1});
  machine_.Put({.pid = 10, .ticks = 44, .start = machine_.NowTicks() + 1});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 44);
}

TEST_F(ProcessRules, StartedInTheTickOfTheLastScan_CountsItsWholeLife) {
  machine_.ScanWith({.pid = 1});
  machine_.Put({.pid = 10, .ticks = 44, .start = machine_.NowTicks()});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 44);
}

TEST_F(ProcessRules, StartedBeforeTheLastScanButNotSeen_CountsZeroThenNormally) {
  machine_.ScanWith({.pid = 1});
  machine_.Put({.pid = 10, .ticks = 44, .start = machine_.NowTicks() - 2});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 0);
  machine_.ScanWith({.pid = 10, .ticks = 46, .start = machine_.NowTicks() - 502});
  EXPECT_EQ(machine_.Find(10)->info->key.tgid, 10);
}

TEST_F(ProcessRules, EndedProcess_IsReportedOnceAndItsSlotWaitsOneScan) {
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10});
  machine_.Scan();
  const Slot slot = machine_.Find(10)->slot;
  machine_.End(10);
  machine_.ScanWith({.pid = 11, .start = machine_.NowTicks()});
  ASSERT_EQ(machine_.sample.exited.size(), 1U);
  EXPECT_EQ(machine_.sample.exited[0].slot, slot);
  EXPECT_EQ(machine_.sample.exited[0].cpu, Nanoseconds{0});
  EXPECT_NE(machine_.Find(11)->slot, slot);
  machine_.ScanWith({.pid = 12, .start = machine_.NowTicks()});
  EXPECT_TRUE(machine_.sample.exited.empty());
  EXPECT_EQ(machine_.Find(12)->slot, slot);
}

TEST_F(ProcessRules, SlotOfALivingProcess_NeverChanges) {
  machine_.ScanWith({.pid = 50});
  const Slot slot = machine_.Find(50)->slot;
  for (int pid : {10, 90, 20}) {
    machine_.Put({.pid = pid, .start = machine_.NowTicks()});
    machine_.Scan();
    EXPECT_EQ(machine_.Find(50)->slot, slot);
  }
}

TEST_F(ProcessRules, PidReused_InheritsNothing) {
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .ticks = 1000, .comm = "old"});
  machine_.Scan();
  const Slot slot = machine_.Find(10)->slot;
  const uint32_t version = machine_.Find(10)->version;
  machine_.tree.Reincarnate("proc/10");
  machine_.ScanWith({.pid = 10, .ticks = 1200, .start = machine_.NowTicks() + 3, .comm = "new"});
  EXPECT_EQ(machine_.TicksOf(10), 1200) << "its own whole life, not the difference to the dead one";
  EXPECT_EQ(machine_.Find(10)->info->comm, "new");
  EXPECT_NE(machine_.Find(10)->slot, slot);
  EXPECT_GT(machine_.Find(10)->version, 0U);
  EXPECT_GT(version, 0U);
  ASSERT_EQ(machine_.sample.exited.size(), 1U);
  EXPECT_EQ(machine_.sample.exited[0].slot, slot);
}

TEST_F(ProcessRules, NewInodeButSameStart_IsTheSameProcess) {
  machine_.ScanWith({.pid = 10, .ticks = 100});
  const Slot slot = machine_.Find(10)->slot;
  machine_.tree.Reincarnate("proc/10");
  machine_.ScanWith({.pid = 10, .ticks = 103});
  EXPECT_EQ(machine_.TicksOf(10), 3);
  EXPECT_EQ(machine_.Find(10)->slot, slot);
  EXPECT_TRUE(machine_.sample.exited.empty());
}

TEST_F(ProcessRules, ClockThatFell_CountsZeroUntilItHasPassedTheOldValue) {
  machine_.ScanWith({.pid = 10, .ticks = 100});
  machine_.Put({.pid = 10, .ticks = 90});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 0);
  EXPECT_TRUE(machine_.sample.exited.empty());
  machine_.ScanWith({.pid = 10, .ticks = 101});
  EXPECT_EQ(machine_.TicksOf(10), 1);
}

TEST_F(ProcessRules, VanishesBetweenListAndStat_IsSkippedAndCounted) {
  machine_.ScanWith({.pid = 1});
  machine_.tree.MakeDir("proc/10");
  machine_.Scan();
  EXPECT_EQ(machine_.last_error, "");
  EXPECT_EQ(machine_.Find(10), nullptr);
  EXPECT_EQ(machine_.source().status().vanished, 1U);
}

TEST_F(ProcessRules, KnownOneVanishesBetweenListAndStat_HasExited) {
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10});
  machine_.Scan();
  machine_.tree.Remove("proc/10/stat");
  machine_.Scan();
  EXPECT_EQ(machine_.sample.exited.size(), 1U);
  EXPECT_EQ(machine_.Find(10), nullptr);
  EXPECT_EQ(machine_.source().status().vanished, 1U);
}

TEST_F(ProcessRules, MalformedStat_CostsOnlyThatReading) {
  machine_.Put({.pid = 1, .ticks = 5});
  machine_.Put({.pid = 10, .ticks = 100});
  machine_.Scan();
  const Slot slot = machine_.Find(10)->slot;
  machine_.Put({.pid = 1, .ticks = 6});
  machine_.tree.Write("proc/10/stat", "10 (task");
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(1), 1);
  EXPECT_EQ(machine_.TicksOf(10), 0) << "it stays who it was";
  EXPECT_GE(machine_.source().status().failed_reads, 1U);
  machine_.ScanWith({.pid = 10, .ticks = 107});
  EXPECT_EQ(machine_.TicksOf(10), 7) << "not the whole life: it was known";
  EXPECT_EQ(machine_.Find(10)->slot, slot);
}

TEST_F(ProcessRules, UnreadableStatOfANewProcess_IsSkippedAndCounted) {
  machine_.PutKernelThread();
  machine_.tree.Write("proc/10/stat", "garbage");
  machine_.Scan();
  EXPECT_EQ(machine_.Find(10), nullptr);
  EXPECT_EQ(machine_.source().status().failed_reads, 1U);
}

TEST_F(ProcessRules, MissingExeAndCgroup_AreEmptyNotAnError) {
  machine_.Put({.pid = 10, .exe = ""});
  machine_.tree.Remove("proc/10/cgroup");
  machine_.Scan();
  ASSERT_NE(machine_.Find(10), nullptr);
  EXPECT_EQ(machine_.Find(10)->info->exe, "");
  ASSERT_NE(machine_.Find(10)->info->cgroup, nullptr);
  EXPECT_TRUE(machine_.Find(10)->info->cgroup->lines.empty());
}

TEST_F(ProcessRules, ExeThatCannotBeRead_IsEmptyAndCounted) {
  machine_.Put({.pid = 10, .exe = ""});
  machine_.tree.MakeDir("proc/10/exe");
  machine_.Scan();
  EXPECT_EQ(machine_.Find(10)->info->exe, "");
  EXPECT_GE(machine_.source().status().failed_reads, 1U);
}

TEST_F(ProcessRules, DeletedExe_LosesTheSuffix) {
  machine_.ScanWith({.pid = 10, .exe = "/bin/old (deleted)"});
  EXPECT_EQ(machine_.Find(10)->info->exe, "/bin/old");
}

TEST_F(ProcessRules, KernelThread_IsThereWithoutExe) {
  machine_.PutKernelThread();
  machine_.Scan();
  ASSERT_NE(machine_.Find(2), nullptr);
  EXPECT_TRUE(machine_.Find(2)->info->kernel_thread);
  EXPECT_EQ(machine_.Find(2)->info->exe, "");
  EXPECT_EQ(machine_.Find(2)->info->comm, "kthreadd");
}

TEST_F(ProcessRules, KernelWorker_KeepsOneNameWhateverItDoes) {
  machine_.PutKernelThread("kworker/0:1-events");
  machine_.Scan();
  EXPECT_EQ(machine_.Find(2)->info->comm, "kworker/0:1");
  const uint32_t version = machine_.Find(2)->version;
  machine_.PutKernelThread("kworker/0:1+mm_percpu_wq");
  machine_.Scan();
  EXPECT_EQ(machine_.Find(2)->version, version);
  for (const std::string shown : {"kworker/R-mld", "kworker/R-mld+mld"}) {
    machine_.PutKernelThread(shown);
    machine_.Scan();
    EXPECT_EQ(machine_.Find(2)->info->comm, "kworker/R-mld");
  }
}

/// The kernel's own name is cut there, and that is what BPF shows.
TEST_F(ProcessRules, KernelThreadWithALongName_HasItsFirst15Bytes) {
  machine_.Put({.pid = 1, .comm = "a process (but)"});
  for (const auto& [shown, comm] : {std::pair<std::string, std::string>{"rcu_exp_gp_kthread_worker", "rcu_exp_gp_kthr"},
                                    {"kworker/R-ext4-rsv-conversion", "kworker/R-ext4-"},
                                    {"kworker/u1024:100-events_unbound", "kworker/u1024:1"}}) {
    machine_.PutKernelThread(shown);
    machine_.Scan();
    EXPECT_EQ(machine_.Find(2)->info->comm, comm);
  }
  EXPECT_EQ(machine_.Find(1)->info->comm, "a process (but)");
}

TEST_F(ProcessRules, NewProcess_LabelsAreReadAgainAtTheSecondScan) {
  machine_.ScanWith({.pid = 1});
  machine_.Put({.pid = 10, .start = machine_.NowTicks(), .cgroup = "0::/shim\n", .comm = "runc", .exe = "/bin/runc"});
  machine_.Scan();
  const uint32_t version = machine_.Find(10)->version;
  machine_.Put(
      {.pid = 10, .start = machine_.NowTicks() - 500, .cgroup = "0::/box\n", .comm = "app", .exe = "/bin/app"});
  machine_.Scan();
  EXPECT_EQ(machine_.Find(10)->info->comm, "app");
  EXPECT_EQ(machine_.Find(10)->info->exe, "/bin/app");
  EXPECT_EQ(machine_.Find(10)->info->cgroup->lines[0].path, "/box");
  EXPECT_GT(machine_.Find(10)->version, version);
}

TEST_F(ProcessRules, CpuUse_LabelsAreReadAgain_IdleOnesOnlyInRotation) {
  // More processes than one round of the rotation, the two that matter last.
  for (int pid = 1; pid <= 200; ++pid) machine_.Put({.pid = pid});
  machine_.Scan();
  machine_.Put({.pid = 199, .comm = "moved"});
  machine_.Put({.pid = 200, .ticks = 1, .comm = "busy"});
  machine_.Scan();
  EXPECT_EQ(machine_.Find(200)->info->comm, "busy");
  EXPECT_EQ(machine_.Find(199)->info->comm, "task");
  for (int scan = 0; scan < 13; ++scan) machine_.Scan();
  EXPECT_EQ(machine_.Find(199)->info->comm, "moved") << "200 processes, 16 a scan: seen within 13";
}

TEST_F(ProcessRules, MoreBusyProcessesThanTheBound_EachGetsItsTurn) {
  constexpr int kProcesses = 400;
  for (int pid = 1; pid <= kProcesses; ++pid) machine_.Put({.pid = pid});
  machine_.Scan();
  const auto renamed = [&] {
    return std::ranges::count_if(machine_.sample.processes, [](const auto& p) { return p.info->comm == "renamed"; });
  };
  for (uint64_t scan = 1; scan <= 2; ++scan) {
    for (int pid = 1; pid <= kProcesses; ++pid) machine_.PutStat({.pid = pid, .ticks = scan, .comm = "renamed"});
    machine_.Scan();
    const auto max = static_cast<int64_t>(scan) * (256 + 16);
    EXPECT_LE(renamed(), max);
    EXPECT_GE(renamed(), std::min<int64_t>(kProcesses, static_cast<int64_t>(scan) * 256));
  }
  EXPECT_EQ(renamed(), kProcesses);
}

TEST_F(ProcessRules, ManyNewIdleProcesses_EachGetsItsTurn_BusyOnesAtOnce) {
  constexpr int kBusy = 110;
  machine_.ScanWith({.pid = 1});
  const uint64_t start = machine_.NowTicks();
  for (int pid = 11; pid <= kBusy; ++pid) machine_.Put({.pid = pid, .start = start});
  machine_.Scan();
  for (int pid = 11; pid < kBusy; ++pid) machine_.PutStat({.pid = pid, .start = start, .comm = "renamed"});
  machine_.PutStat({.pid = kBusy, .ticks = 1, .start = start, .comm = "renamed"});
  const auto renamed = [&] {
    return std::ranges::count_if(machine_.sample.processes, [](const auto& p) { return p.info->comm == "renamed"; });
  };
  machine_.Scan();
  EXPECT_EQ(machine_.Find(kBusy)->info->comm, "renamed");
  EXPECT_GE(renamed(), 1 + 32);
  EXPECT_LE(renamed(), 1 + 32 + 16);
  for (int scan = 0; scan < 3; ++scan) machine_.Scan();
  EXPECT_EQ(renamed(), 100) << "32 a scan: seen within 4";
}

TEST_F(ProcessRules, UnchangedLabels_VersionStays) {
  machine_.ScanWith({.pid = 10, .ticks = 1});
  const uint32_t version = machine_.Find(10)->version;
  EXPECT_NE(version, 0U);
  machine_.ScanWith({.pid = 10, .ticks = 2});
  EXPECT_EQ(machine_.Find(10)->version, version);
}

TEST_F(ProcessRules, Zombie_KeepsWhatItWas) {
  machine_.SetV1("", Ticks(0));
  machine_.ScanWith({.pid = 10, .cgroup = "2:cpuacct:/box\n0::/\n"});
  const uint32_t version = machine_.Find(10)->version;
  machine_.tree.Remove("proc/10/exe");
  machine_.ScanWith({.pid = 10, .ticks = 3, .cgroup = "2:cpuacct:/\n0::/\n", .exe = "", .flags = 4, .state = 'Z'});
  EXPECT_EQ(machine_.TicksOf(10), 3);
  EXPECT_EQ(machine_.Find(10)->version, version);
  EXPECT_EQ(machine_.Find(10)->info->exe, "/bin/task");
  EXPECT_EQ(machine_.Find(10)->info->cgroup->lines[0].path, "/box");
}

TEST_F(ProcessRules, OneCgroup_OneMembershipObject) {
  machine_.Put({.pid = 10, .cgroup = "0::/a\n"});
  machine_.Put({.pid = 11, .cgroup = "0::/a\n"});
  machine_.Put({.pid = 12, .cgroup = "0::/b\n"});
  machine_.Scan();
  EXPECT_EQ(machine_.Find(10)->info->cgroup, machine_.Find(11)->info->cgroup);
  EXPECT_NE(machine_.Find(10)->info->cgroup, machine_.Find(12)->info->cgroup);
}

TEST_F(ProcessRules, ProcfsMissing_IsAnErrorAndComesBack) {
  machine_.tree.Remove("proc");
  machine_.Scan();
  EXPECT_THAT(machine_.last_error, HasSubstr(machine_.tree.Path("proc")));
  EXPECT_FALSE(machine_.source().status().up);
  EXPECT_TRUE(machine_.sample.processes.empty());
  machine_.ScanWith({.pid = 10, .ticks = 100});
  EXPECT_EQ(machine_.last_error, "");
  EXPECT_TRUE(machine_.source().status().up);
  EXPECT_EQ(machine_.source().status().last_success, machine_.clock.Wall());
  EXPECT_EQ(machine_.TicksOf(10), 0) << "the first good scan is the first";
}

TEST_F(ProcessRules, ProcfsReplaced_IsOpenedAgain) {
  machine_.ScanWith({.pid = 10, .ticks = 100});
  machine_.tree.Remove("proc");
  machine_.Scan();
  EXPECT_NE(machine_.last_error, "");
  machine_.Scan();
  EXPECT_NE(machine_.last_error, "");
  machine_.ScanWith({.pid = 10, .ticks = 109});
  EXPECT_EQ(machine_.last_error, "");
  EXPECT_TRUE(machine_.source().status().up);
  EXPECT_EQ(machine_.TicksOf(10), 9) << "of all the time since the last good scan";
}

TEST_F(ProcessRules, ProcfsWasEmptyAndIsReplaced_IsOpenedAgain) {
  machine_.Scan();
  EXPECT_NE(machine_.last_error, "") << "mounted over later, the open directory would stay empty";
  machine_.tree.Remove("proc");
  machine_.ScanWith({.pid = 10, .ticks = 100});
  EXPECT_EQ(machine_.last_error, "");
  EXPECT_EQ(machine_.TicksOf(10), 0);
}

TEST_F(ProcessRules, NothingListed_IsAnErrorAndTheNextScanCoversTheTime) {
  machine_.ScanWith({.pid = 10, .ticks = 100});
  machine_.tree.Remove("proc/10");
  machine_.Scan();
  EXPECT_NE(machine_.last_error, "");
  EXPECT_TRUE(machine_.sample.exited.empty());
  machine_.ScanWith({.pid = 10, .ticks = 109});
  EXPECT_EQ(machine_.TicksOf(10), 9);
}

TEST_F(ProcessRules, TakenAt_LiesWithinTheScan) {
  machine_.ScanWith({.pid = 10});
  EXPECT_EQ(machine_.sample.taken_at, machine_.clock.Now());
}

TEST_F(ProcessRules, AbsurdNumbersInStat_NeverGiveNegativeTime) {
  machine_.Put({.pid = 10, .ticks = UINT64_MAX});
  machine_.Put({.pid = 11});
  machine_.Scan();
  machine_.Put({.pid = 10, .ticks = 5});
  machine_.Put({.pid = 12, .ticks = UINT64_MAX, .start = UINT64_MAX});
  machine_.Scan();
  ASSERT_EQ(machine_.sample.processes.size(), 3U);
  for (const auto& process : machine_.sample.processes) EXPECT_GE(process.cpu.count(), 0);
}

}  // namespace
}  // namespace kepler::activity::procfs
