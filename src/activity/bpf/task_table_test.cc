#include "activity/bpf/task_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "activity/bpf/fake_kernel_test_util.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class TaskTableTest : public AfterOneScan {};

TEST_F(TaskTableTest, FirstScan_CountsNothing) {
  EXPECT_EQ(kernel_.CpuOf(1), 0);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
}

TEST_F(TaskTableTest, KnownProcess_GetsWhatAllItsThreadsRan) {
  kernel_.Start({.tid = 7, .tgid = 1, .ran = 30});
  kernel_.living[1].ran += 500;
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(1), 530);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(1), 0);
}

TEST_F(TaskTableTest, NewProcess_GetsAllSinceItsStart) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 123});
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 123);
}

TEST_F(TaskTableTest, OldProcessThatNoScanHasShown_CountsFromNowOn) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1'000'000, .start = 7});
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  kernel_.living[50].ran += 20;
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 20);
}

TEST_F(TaskTableTest, DeadThread_CountsOnceWhenTheKernelAddsItAndOnceMoreOnlyForTheRest) {
  kernel_.Start({.tid = 7, .tgid = 1, .ran = 300});
  const kepler_task record = kernel_.End(7, /*more=*/4);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(1), 300);
  kernel_.table.AddFreed(record);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(1), 4);
}

TEST_F(TaskTableTest, ThreadsOfAnOldProcessThatDiedBeforeTheFirstScan_AreNotCountedAgain) {
  FakeKernel kernel;
  kernel.tree.MakeDir("proc");
  kernel.Start({.tid = 1, .tgid = 1, .ran = 10, .start = 5});
  kernel.Start({.tid = 2, .tgid = 1, .ran = 5000, .start = 6});
  const kepler_task late = kernel.End(2, /*more=*/3);
  kernel.Scan();
  kernel.table.AddFreed(late);
  kernel.Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel.CpuOf(1), 0);
}

TEST_F(TaskTableTest, ProcessWithoutRecord_StaysListedUntilItComes) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Scan();
  kernel_.living[50].ran = 170;
  const kepler_task record = kernel_.End(50, /*more=*/5);
  kernel_.Scan(std::chrono::milliseconds(100));
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
  kernel_.table.AddFreed(record);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), -1);
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(75));
  EXPECT_EQ(kernel_.sample.exited[0].info, nullptr);
}

TEST_F(TaskTableTest, ProcessWhoseRecordNeverComes_IsGivenUp) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Scan();
  static_cast<void>(kernel_.End(50));
  kernel_.Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  kernel_.Scan(TaskTable::kMaxDelay);
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(0));
}

TEST_F(TaskTableTest, RecordThatComesAfterAll_ReportsTheRestOnly) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .comm = "slow"});
  kernel_.Scan();
  kernel_.living[50].ran = 130;
  const kepler_task record = kernel_.End(50);
  kernel_.Scan(std::chrono::seconds(1));
  kernel_.Scan(TaskTable::kMaxDelay);
  kernel_.table.AddFreed(record);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(30));
  EXPECT_TRUE(kernel_.sample.short_lived[0].late_remainder);
  kernel_.table.AddFreed(record);
}

TEST_F(TaskTableTest, KnownProcessWhoseRecordWasDropped_GetsItsLastSliceAllTheSame) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Scan();
  kernel_.living[50].ran = 130;
  const kepler_task record = kernel_.End(50);
  kernel_.table.AddDropped({.start = record.start, .ran = record.group_ran_dead, .cgroup_v2 = 0, .tgid = 50, .pad = 0});
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(30));
  EXPECT_EQ(kernel_.table.lost(), Nanoseconds(0));
}

TEST_F(TaskTableTest, UnknownProcessWhoseRecordWasDropped_IsLostWithAllItsThreads) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 11});
  kernel_.Free(51);
  const kepler_task record = kernel_.End(50);
  kernel_.table.AddDropped({.start = record.start, .ran = record.group_ran_dead, .cgroup_v2 = 0, .tgid = 50, .pad = 0});
  kernel_.table.AddDropped(
      {.start = 7, .ran = 1000, .cgroup_v2 = 0, .tgid = 51, .pad = 0});  // from before the first scan
  kernel_.Scan();
  EXPECT_THAT(kernel_.sample.short_lived, IsEmpty());
  EXPECT_EQ(kernel_.table.lost(), Nanoseconds(111));
}

TEST_F(TaskTableTest, ThreadThatDiesDuringThePass_IsNotCountedTwice) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 10});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 1'000'000});
  kernel_.Start({.tid = 52, .tgid = 50, .ran = 1});
  kernel_.BeginScan(std::chrono::seconds(1));
  for (const int tid : {1, 50, 51}) kernel_.Show(kernel_.living[tid]);
  const kepler_task record = kernel_.End(51);
  kernel_.Show(kernel_.living[52]);
  kernel_.EndScan();
  EXPECT_EQ(kernel_.CpuOf(50), 1'000'011);
  kernel_.table.AddFreed(record);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
}

TEST_F(TaskTableTest, RecordsOfThreadsBehindTheirLeaders_CountToo) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 40});
  kernel_.Scan();
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 100});
  kernel_.Start({.tid = 61, .tgid = 60, .ran = 40});
  const kepler_task of_known = kernel_.End(51, /*more=*/4);
  const kepler_task of_short_lived = kernel_.End(61, /*more=*/5);
  kernel_.Free(50);
  kernel_.Free(60);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 0) << "stays for a scan";
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(140));
  EXPECT_FALSE(kernel_.sample.short_lived[0].late_remainder);
  kernel_.table.AddFreed(of_known);
  kernel_.table.AddFreed(of_short_lived);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].cpu, Nanoseconds(4));
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(5));
  EXPECT_TRUE(kernel_.sample.short_lived[0].late_remainder);
  kernel_.Scan();
  EXPECT_THAT(kernel_.sample.short_lived, IsEmpty());
}

TEST_F(TaskTableTest, GroupOfAShortLivedProcessUsedAgain_ItsThreadsStayApart) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 40});
  kernel_.Free(51);
  kernel_.Free(50);
  kernel_.Scan();
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 100}).group = 2;
  kernel_.Start({.tid = 61, .tgid = 60, .ran = 40});
  ASSERT_EQ(kernel_.living[60].group, kernel_.living[61].group);
  kernel_.Free(61);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(60), 140);
  EXPECT_THAT(kernel_.sample.short_lived, IsEmpty());
}

TEST_F(TaskTableTest, MoreShortLivedProcessesThanMaxPending_AreLostAndCounted) {
  for (size_t i = 0; i < ShortLivedProcesses::kMaxPending + 3; ++i) {
    kernel_.Start({.tid = 50, .tgid = 50, .ran = 7});
    kernel_.Free(50);
  }
  kernel_.Scan();
  EXPECT_THAT(kernel_.sample.short_lived, SizeIs(ShortLivedProcesses::kMaxPending));
  EXPECT_EQ(kernel_.table.unheld(), 3U);
  EXPECT_EQ(kernel_.table.lost(), Nanoseconds(21));
}

TEST_F(TaskTableTest, ProcessBetweenTwoScans_IsShortLived) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .comm = "true", .cgroup = 9});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 11});
  kernel_.table.AddExec(50, kernel_.living[50].start, "/bin/true");
  kernel_.Free(51);
  kernel_.Free(50);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  const ShortLivedSample& short_lived = kernel_.sample.short_lived[0];
  EXPECT_EQ(short_lived.cpu, Nanoseconds(111));
  EXPECT_EQ(short_lived.comm, "true");
  EXPECT_EQ(short_lived.exe, "/bin/true");
  EXPECT_EQ(short_lived.key.tgid, 50);
  kernel_.Scan();
  EXPECT_THAT(kernel_.sample.short_lived, IsEmpty());
}

TEST_F(TaskTableTest, ShortLivedProcessWhoseThreadsRecordsWereDropped_GetsTheKernelsSum) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 900});
  static_cast<void>(kernel_.End(51));
  kernel_.Free(50);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(1000));
}

TEST_F(TaskTableTest, ProcessFromBeforeTheFirstScanThatItDidNotShow_BelongsToNobody) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .start = 7});
  kernel_.Free(50);
  kernel_.Scan();
  EXPECT_THAT(kernel_.sample.short_lived, IsEmpty());
}

TEST_F(TaskTableTest, PidReused_OldOneEndsAndItsRestIsReportedLater) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100, .comm = "old"});
  kernel_.Scan();
  kernel_.living[50].ran = 130;
  const kepler_task record = kernel_.End(50);
  kernel_.clock.Advance(std::chrono::milliseconds(1));
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 7, .comm = "new"});
  kernel_.Scan(std::chrono::milliseconds(20));
  EXPECT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.CpuOf(50), 7);
  EXPECT_EQ(kernel_.Find(50)->info->comm, "new");
  kernel_.table.AddFreed(record);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(30));
  EXPECT_EQ(kernel_.sample.short_lived[0].comm, "old");
  EXPECT_TRUE(kernel_.sample.short_lived[0].late_remainder);
}

TEST_F(TaskTableTest, ThreadOfTheNextProcessOfAPid_IsNotTheKnownOnes) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Scan();
  // No pass has shown the process that has the id by now, and no record has reported that the known one ended.
  kernel_.table.AddFreed(TaskOf({.tid = 51, .tgid = 50, .ran = 70, .group = 999}, kernel_.Now(), 0));
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
}

TEST_F(TaskTableTest, ThreadOlderThanTheProcessWithItsGroup_IsAnotherOnes) {
  // The kernel gives a dead group's address away again.
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Scan();
  const FakeThread& known = kernel_.living[50];
  kernel_.table.AddFreed(TaskOf({.tid = 51, .tgid = 50, .ran = 70, .group = known.group}, known.start - 1, 0));
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 0);
}

TEST_F(TaskTableTest, ProcessesThatStartedAtOnce_StayApart) {
  const uint64_t start = kernel_.Now();
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 3, .start = start});
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 4, .start = start});
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 3);
  EXPECT_EQ(kernel_.CpuOf(60), 4);
}

TEST_F(TaskTableTest, PidUsedAgainWhereTheLastPassEnded_IsANewProcess) {
  kernel_.living.clear();
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Scan();
  kernel_.living.clear();
  kernel_.clock.Advance(std::chrono::milliseconds(1));
  kernel_.Start({.tid = 50,
                 .tgid = 50,
                 .ran = 7,
                 .comm = "new"});  // the first row of this pass has the id of the last one before
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 7);
  EXPECT_EQ(kernel_.Find(50)->info->comm, "new");
}

TEST_F(TaskTableTest, PassThatFailsHalfWay_LosesNothing) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 10});
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 20});
  kernel_.BeginScan(std::chrono::seconds(1));
  kernel_.Show(kernel_.living[50]);
  kernel_.Show(kernel_.living[60]);
  kernel_.living[50].ran = 15;
  kernel_.Free(50);
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(60), 20);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty()) << "no sample has shown it";
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(15));
  EXPECT_FALSE(kernel_.sample.short_lived[0].late_remainder);
}

TEST_F(TaskTableTest, ShownByAPassThatFailedThenPidReused_IsNoRest) {
  kernel_.Scan();
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 10});
  kernel_.BeginScan(std::chrono::seconds(1));
  kernel_.Show(kernel_.living[50]);
  const kepler_task record = kernel_.End(50);
  kernel_.clock.Advance(std::chrono::milliseconds(1));
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 7});
  kernel_.Scan();
  kernel_.table.AddFreed(record);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(10));
  EXPECT_FALSE(kernel_.sample.short_lived[0].late_remainder) << "no sample has reported anything of it";
}

TEST_F(TaskTableTest, FiveThousandThreadsThatCameAndWent_AreOneProcess) {
  kernel_.Start({.tid = 1000, .tgid = 1000, .ran = 1});
  for (int tid = 1001; tid <= 6000; ++tid) {
    kernel_.Start({.tid = tid, .tgid = 1000, .ran = 20'000});
    kernel_.table.AddFreed(kernel_.End(tid, /*more=*/200));
  }
  kernel_.Free(1000);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu, Nanoseconds(5000 * 20'200 + 1));
}

TEST_F(TaskTableTest, SlotOfAnExitedProcess_IsUsedAgainOnlyAfterItsSample) {
  kernel_.Start({.tid = 50, .tgid = 50});
  kernel_.Scan();
  const Slot slot = kernel_.Find(50)->slot;
  kernel_.Free(50);
  kernel_.Start({.tid = 60, .tgid = 60});
  kernel_.Scan();
  EXPECT_NE(kernel_.Find(60)->slot, slot);
  kernel_.Start({.tid = 61, .tgid = 61});
  kernel_.Scan();
  EXPECT_EQ(kernel_.Find(61)->slot, slot);
}

TEST_F(AfterOneScan, HandOver_SaysWhatTheLivingWereGivenAndHowTheOthersEnded) {
  kernel_.Start({.tid = 10, .tgid = 10, .ran = 500});
  kernel_.Start({.tid = 11, .tgid = 11, .ran = 300});
  kernel_.Scan();
  const Slot ended = kernel_.Find(11)->slot;
  kernel_.living.at(10).ran = 800;
  kernel_.living.at(11).ran = 450;
  kernel_.Free(11);
  kernel_.Start({.tid = 12, .tgid = 12, .ran = 70, .comm = "short"});
  kernel_.Free(12);
  // A pass that fails half-way, and shows one that no sample has reported.
  kernel_.Start({.tid = 13, .tgid = 13, .ran = 5});
  const ActivitySample latest = kernel_.sample;
  kernel_.BeginScan(std::chrono::seconds(5));
  for (const int tid : {1, 13}) kernel_.Show(kernel_.living.at(tid));
  kernel_.sample = latest;
  ActivitySample last;
  auto living = kernel_.table.HandOver(last);
  std::ranges::sort(living, {}, &Handover::Process::key);
  ASSERT_EQ(living.size(), 2U);
  EXPECT_EQ(living[0].key.tgid, 1);
  EXPECT_EQ(living[0].cpu, Nanoseconds(1000)) << "CPU time before the first scan is unattributed";
  EXPECT_EQ(living[1].key, kernel_.Find(10)->info->key);
  EXPECT_EQ(living[1].slot, kernel_.Find(10)->slot);
  EXPECT_EQ(living[1].cpu, Nanoseconds(500));
  ASSERT_EQ(last.exited.size(), 1U);
  EXPECT_EQ(last.exited[0].slot, ended);
  EXPECT_EQ(last.exited[0].cpu, Nanoseconds(150));
  ASSERT_EQ(last.short_lived.size(), 1U);
  EXPECT_EQ(last.short_lived[0].comm, "short");
  EXPECT_EQ(last.short_lived[0].cpu, Nanoseconds(70));
}

}  // namespace
}  // namespace kepler::activity::bpf
