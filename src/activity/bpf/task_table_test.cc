#include "activity/bpf/task_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "activity/bpf/fake_kernel_test_util.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// One look has been.
class TaskTableTest : public ::testing::Test {
 protected:
  TaskTableTest() {
    kernel_.tree.MakeDir("proc");
    kernel_.Start({.tid = 1, .tgid = 1, .ran = 1000, .start = 5, .comm = "init"});
    kernel_.Look();
  }
  FakeKernel kernel_;
};

TEST_F(TaskTableTest, FirstLook_CountsNothing) {
  EXPECT_EQ(kernel_.CpuOf(1), 0);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
}

TEST_F(TaskTableTest, KnownProcess_GetsWhatAllItsThreadsRan) {
  kernel_.Start({.tid = 7, .tgid = 1, .ran = 30});
  kernel_.living[1].ran += 500;
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(1), 530);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(1), 0);
}

TEST_F(TaskTableTest, NewProcess_GetsAllSinceItsStart) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 123});
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 123);
}

TEST_F(TaskTableTest, OldProcessThatNoLookHasShown_CountsFromNowOn) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1'000'000, .start = 7});
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  kernel_.living[50].ran += 20;
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 20);
}

TEST_F(TaskTableTest, DeadThread_CountsOnceWhenTheKernelAddsItAndOnceMoreOnlyForTheRest) {
  kernel_.Start({.tid = 7, .tgid = 1, .ran = 300});
  const kepler_task record = kernel_.End(7, /*more=*/4);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(1), 300);
  kernel_.table.AddFreed(record);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(1), 4);
}

TEST_F(TaskTableTest, ThreadsOfAnOldProcessThatDiedBeforeTheFirstLook_AreNotCountedAgain) {
  FakeKernel kernel;
  kernel.tree.MakeDir("proc");
  kernel.Start({.tid = 1, .tgid = 1, .ran = 10, .start = 5});
  kernel.Start({.tid = 2, .tgid = 1, .ran = 5000, .start = 6});
  const kepler_task late = kernel.End(2, /*more=*/3);
  kernel.Look();
  kernel.table.AddFreed(late);
  kernel.Look(std::chrono::seconds(1));
  EXPECT_EQ(kernel.CpuOf(1), 0);
}

TEST_F(TaskTableTest, ProcessWithoutRecord_StaysListedUntilItComes) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Look();
  kernel_.living[50].ran = 170;
  const kepler_task record = kernel_.End(50, /*more=*/5);
  kernel_.Look(std::chrono::milliseconds(100));
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
  kernel_.table.AddFreed(record);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), -1);
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(75));
  EXPECT_EQ(kernel_.sample.exited[0].info, nullptr);
}

TEST_F(TaskTableTest, ProcessWhoseRecordNeverComes_IsGivenUp) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Look();
  static_cast<void>(kernel_.End(50));
  kernel_.Look(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  kernel_.Look(TaskTable::kMostDelay);
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(0));
}

TEST_F(TaskTableTest, RecordThatComesAfterAll_TellsTheRestOnly) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .comm = "slow"});
  kernel_.Look();
  kernel_.living[50].ran = 130;
  const kepler_task record = kernel_.End(50);
  kernel_.Look(std::chrono::seconds(1));
  kernel_.Look(TaskTable::kMostDelay);
  kernel_.table.AddFreed(record);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(30));
  kernel_.table.AddFreed(record);
}

TEST_F(TaskTableTest, KnownProcessWhoseRecordWasDropped_GetsItsLastSliceAllTheSame) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Look();
  kernel_.living[50].ran = 130;
  const kepler_task record = kernel_.End(50);
  kernel_.table.AddDropped({.start = record.start, .ran = record.group_ran_dead, .tgid = 50, .pad = 0});
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(30));
  EXPECT_EQ(kernel_.table.lost(), Nanoseconds(0));
}

TEST_F(TaskTableTest, UnknownProcessWhoseRecordWasDropped_IsLostWithAllItsThreads) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 11});
  kernel_.Free(51);
  const kepler_task record = kernel_.End(50);
  kernel_.table.AddDropped({.start = record.start, .ran = record.group_ran_dead, .tgid = 50, .pad = 0});
  kernel_.table.AddDropped({.start = 7, .ran = 1000, .tgid = 51, .pad = 0});  // from before the first look
  kernel_.Look();
  EXPECT_THAT(kernel_.sample.briefs, IsEmpty());
  EXPECT_EQ(kernel_.table.lost(), Nanoseconds(111));
}

TEST_F(TaskTableTest, ThreadThatDiesDuringThePass_IsNotCountedTwice) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 10});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 1'000'000});
  kernel_.Start({.tid = 52, .tgid = 50, .ran = 1});
  kernel_.BeginLook(std::chrono::seconds(1));
  for (const int tid : {1, 50, 51}) kernel_.Show(kernel_.living[tid]);
  const kepler_task record = kernel_.End(51);
  kernel_.Show(kernel_.living[52]);
  kernel_.EndLook();
  EXPECT_EQ(kernel_.CpuOf(50), 1'000'011);
  kernel_.table.AddFreed(record);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
}

TEST_F(TaskTableTest, RecordsOfThreadsBehindTheirLeaders_CountToo) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 40});
  kernel_.Look();
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 100});
  kernel_.Start({.tid = 61, .tgid = 60, .ran = 40});
  const kepler_task of_known = kernel_.End(51, /*more=*/4);
  const kepler_task of_brief = kernel_.End(61, /*more=*/5);
  kernel_.Free(50);
  kernel_.Free(60);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 0) << "stays for a look";
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(140));
  kernel_.table.AddFreed(of_known);
  kernel_.table.AddFreed(of_brief);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(4));
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(5));
  kernel_.Look();
  EXPECT_THAT(kernel_.sample.briefs, IsEmpty());
}

TEST_F(TaskTableTest, GroupOfABriefProcessUsedAgain_ItsThreadsStayApart) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 40});
  kernel_.Free(51);
  kernel_.Free(50);
  kernel_.Look();
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 100}).group = 2;
  kernel_.Start({.tid = 61, .tgid = 60, .ran = 40});
  ASSERT_EQ(kernel_.living[60].group, kernel_.living[61].group);
  kernel_.Free(61);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(60), 140);
  EXPECT_THAT(kernel_.sample.briefs, IsEmpty());
}

TEST_F(TaskTableTest, ThreadsShownBehindTheirLeader_DoNotNameTheProcess) {
  kernel_.Start({.tid = 80, .tgid = 80, .comm = "java"});
  kernel_.Start({.tid = 81, .tgid = 80, .comm = "pool-3-thread-9"});
  kernel_.Look();
  EXPECT_EQ(kernel_.Find(80)->info->comm, "java");
}

TEST_F(TaskTableTest, ExecOfTheNextProcessOfAPid_DoesNotNameTheOneThatEnded) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1, .comm = "old"});
  kernel_.Look();
  kernel_.living[50].ran = 9;
  kernel_.Free(50);
  kernel_.clock.Advance(std::chrono::milliseconds(1));
  kernel_.table.AddExec(50, kernel_.Now(), "/bin/new");
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].info, nullptr);
}

TEST_F(TaskTableTest, ProgramExecutedByAnotherPathInTheLastSlice_KeepsItsResolvedName) {
  kernel_.tree.MakeDir("proc/50");
  kernel_.tree.Symlink("proc/50/exe", "/usr/bin/python3.11");
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1, .comm = "python3"});
  kernel_.Look();
  kernel_.living[50].ran = 9;
  kernel_.table.AddExec(50, kernel_.living[50].start, "/usr/bin/python3");
  kernel_.Free(50);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].info, nullptr) << "its series goes on";
}

TEST_F(TaskTableTest, MoreBriefProcessesThanAreHeld_AreLostAndCounted) {
  for (size_t i = 0; i < BriefProcesses::kMostHeld + 3; ++i) {
    kernel_.Start({.tid = 50, .tgid = 50, .ran = 7});
    kernel_.Free(50);
  }
  kernel_.Look();
  EXPECT_THAT(kernel_.sample.briefs, SizeIs(BriefProcesses::kMostHeld));
  EXPECT_EQ(kernel_.table.unheld(), 3U);
  EXPECT_EQ(kernel_.table.lost(), Nanoseconds(21));
}

TEST_F(TaskTableTest, ProcessBetweenTwoLooks_IsBrief) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .comm = "true", .cgroup = 9});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 11});
  kernel_.table.AddExec(50, kernel_.living[50].start, "/bin/true");
  kernel_.Free(51);
  kernel_.Free(50);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  const BriefSample& brief = kernel_.sample.briefs[0];
  EXPECT_EQ(brief.cpu, Nanoseconds(111));
  EXPECT_EQ(brief.comm, "true");
  EXPECT_EQ(brief.exe, "/bin/true");
  EXPECT_EQ(brief.key.tgid, 50);
  kernel_.Look();
  EXPECT_THAT(kernel_.sample.briefs, IsEmpty());
}

TEST_F(TaskTableTest, BriefProcessWhoseThreadsRecordsWereDropped_GetsTheKernelsSum) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 900});
  static_cast<void>(kernel_.End(51));
  kernel_.Free(50);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(1000));
}

TEST_F(TaskTableTest, ProcessFromBeforeTheFirstLookThatItDidNotShow_BelongsToNobody) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .start = 7});
  kernel_.Free(50);
  kernel_.Look();
  EXPECT_THAT(kernel_.sample.briefs, IsEmpty());
}

TEST_F(TaskTableTest, ForkedChild_RunsWhatItsParentRuns) {
  kernel_.tree.MakeDir("proc/60");
  kernel_.tree.Symlink("proc/60/exe", "/usr/bin/make");
  kernel_.Start({.tid = 60, .tgid = 60, .comm = "make"});
  kernel_.Look();
  kernel_.Start({.tid = 61, .tgid = 61, .ran = 9, .comm = "make", .parent = 60});
  kernel_.Start({.tid = 62, .tgid = 62, .ran = 9, .comm = "renamed", .parent = 60});
  kernel_.table.AddExec(70, 1, "/bin/sh");
  kernel_.Start({.tid = 71, .tgid = 71, .ran = 9, .comm = "sh", .parent = 70});
  for (const int tid : {61, 62, 71}) kernel_.Free(tid);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(3));
  EXPECT_EQ(kernel_.sample.briefs[0].exe, "/usr/bin/make");
  EXPECT_EQ(kernel_.sample.briefs[1].exe, "");
  EXPECT_EQ(kernel_.sample.briefs[2].exe, "/bin/sh");
}

TEST_F(TaskTableTest, PidReused_OldOneEndsAndItsRestIsToldLater) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .comm = "old"});
  kernel_.Look();
  kernel_.living[50].ran = 130;
  const kepler_task record = kernel_.End(50);
  kernel_.clock.Advance(std::chrono::milliseconds(1));
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 7, .comm = "new"});
  kernel_.Look(std::chrono::milliseconds(20));
  EXPECT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.CpuOf(50), 7);
  EXPECT_EQ(kernel_.Find(50)->info->comm, "new");
  kernel_.table.AddFreed(record);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(30));
  EXPECT_EQ(kernel_.sample.briefs[0].comm, "old");
}

TEST_F(TaskTableTest, ExecByAThreadThatIsNotTheLeader_KeepsProcessAndSum) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 40});
  kernel_.Look();
  // The thread takes over id and start of the leader, which dies under the thread's id (de_thread, fs/exec.c).
  std::swap(kernel_.living[50].ran, kernel_.living[51].ran);
  kernel_.living[51].start = kernel_.living[50].start;
  kernel_.table.AddExec(50, kernel_.living[50].start, "/bin/other");
  kernel_.Free(51);
  kernel_.living[50].ran += 5;
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(50), 5);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
  EXPECT_EQ(kernel_.Find(50)->info->exe, "/bin/other");
}

TEST_F(TaskTableTest, ExecInTheLastSlice_ExitTellsTheNewName) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1, .comm = "sh"});
  kernel_.Look();
  kernel_.living[50].comm = "true";
  kernel_.living[50].ran = 9;
  kernel_.table.AddExec(50, kernel_.living[50].start, "/bin/true");
  kernel_.Free(50);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  ASSERT_NE(kernel_.sample.exited[0].info, nullptr);
  EXPECT_EQ(kernel_.sample.exited[0].info->comm, "true");
  EXPECT_EQ(kernel_.sample.exited[0].info->exe, "/bin/true");
}

TEST_F(TaskTableTest, LabelChange_NewVersion) {
  kernel_.Start({.tid = 50, .tgid = 50, .comm = "a"});
  kernel_.Look();
  const uint32_t before = kernel_.Find(50)->version;
  kernel_.Look();
  EXPECT_EQ(kernel_.Find(50)->version, before);
  kernel_.living[50].comm = "b";
  kernel_.Look();
  EXPECT_GT(kernel_.Find(50)->version, before);
  EXPECT_EQ(kernel_.Find(50)->info->comm, "b");
}

TEST_F(TaskTableTest, PassThatFailsHalfWay_LosesNothing) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 10});
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 20});
  kernel_.BeginLook(std::chrono::seconds(1));
  kernel_.Show(kernel_.living[50]);
  kernel_.Show(kernel_.living[60]);
  kernel_.living[50].ran = 15;
  kernel_.Free(50);
  kernel_.Look();
  EXPECT_EQ(kernel_.CpuOf(60), 20);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty()) << "no sample has shown it";
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(15));
}

TEST_F(TaskTableTest, ThreadShownBeforeItsLeader_LabelsAreTheLeaders) {
  kernel_.Start({.tid = 80, .tgid = 80, .ran = 1, .comm = "leader"});
  kernel_.Start({.tid = 30, .tgid = 80, .ran = 2, .comm = "worker"});
  kernel_.Start({.tid = 40, .tgid = 40});
  kernel_.Look();
  ASSERT_NE(kernel_.Find(80), nullptr);
  EXPECT_EQ(kernel_.Find(80)->info->comm, "leader");
  EXPECT_EQ(kernel_.CpuOf(80), 3);
  EXPECT_TRUE(std::ranges::is_sorted(kernel_.sample.processes, {}, [](const auto& p) { return p.info->key.tgid; }));
}

TEST_F(TaskTableTest, FiveThousandThreadsThatCameAndWent_AreOneProcess) {
  kernel_.Start({.tid = 1000, .tgid = 1000, .ran = 1});
  for (int tid = 1001; tid <= 6000; ++tid) {
    kernel_.Start({.tid = tid, .tgid = 1000, .ran = 20'000});
    kernel_.table.AddFreed(kernel_.End(tid, /*more=*/200));
  }
  kernel_.Free(1000);
  kernel_.Look();
  ASSERT_THAT(kernel_.sample.briefs, SizeIs(1));
  EXPECT_EQ(kernel_.sample.briefs[0].cpu, Nanoseconds(5000 * 20'200 + 1));
}

TEST_F(TaskTableTest, KernelThread_HasNoExe) {
  kernel_.tree.Symlink("proc/2/exe", "/never/read");
  kernel_.Start({.tid = 2, .tgid = 2, .comm = "kthreadd", .kernel_thread = true});
  kernel_.Look();
  EXPECT_TRUE(kernel_.Find(2)->info->kernel_thread);
  EXPECT_EQ(kernel_.Find(2)->info->exe, "");
}

TEST_F(TaskTableTest, SlotOfAnExitedProcess_IsUsedAgainOnlyAfterItsSample) {
  kernel_.Start({.tid = 50, .tgid = 50});
  kernel_.Look();
  const Slot slot = kernel_.Find(50)->slot;
  kernel_.Free(50);
  kernel_.Start({.tid = 60, .tgid = 60});
  kernel_.Look();
  EXPECT_NE(kernel_.Find(60)->slot, slot);
  kernel_.Start({.tid = 61, .tgid = 61});
  kernel_.Look();
  EXPECT_EQ(kernel_.Find(61)->slot, slot);
}

}  // namespace
}  // namespace kepler::activity::bpf
