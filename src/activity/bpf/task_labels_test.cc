// What the table of tasks says of who a process is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "activity/bpf/fake_kernel_test_util.h"
#include "activity/bpf/task_table.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class TaskLabelsTest : public AfterOneScan {};

TEST_F(TaskLabelsTest, ThreadsShownBehindTheirLeader_DoNotNameTheProcess) {
  kernel_.Start({.tid = 80, .tgid = 80, .comm = "java"});
  kernel_.Start({.tid = 81, .tgid = 80, .comm = "pool-3-thread-9"});
  kernel_.Scan();
  EXPECT_EQ(kernel_.Find(80)->info->comm, "java");
}

TEST_F(TaskLabelsTest, ChangedUser_IsNoticedAtTheNextScan) {
  kernel_.Start({.tid = 80, .tgid = 80, .comm = "nginx", .uid = 0});
  kernel_.Scan();
  EXPECT_EQ(kernel_.Find(80)->info->uid, 0U);
  const uint32_t version = kernel_.Find(80)->version;
  kernel_.living[80].uid = 33;
  kernel_.Scan();
  EXPECT_EQ(kernel_.Find(80)->info->uid, 33U);
  EXPECT_GT(kernel_.Find(80)->version, version);
}

TEST_F(TaskLabelsTest, UserThatChangedInTheLastSlice_IsReportedWithTheExit) {
  kernel_.Start({.tid = 80, .tgid = 80, .ran = 1, .uid = 0});
  kernel_.Scan();
  kernel_.living[80].ran = 9;
  kernel_.living[80].uid = 33;
  kernel_.Free(80);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  ASSERT_NE(kernel_.sample.exited[0].info, nullptr);
  EXPECT_EQ(kernel_.sample.exited[0].info->uid, 33U);
}

TEST_F(TaskLabelsTest, ShortLivedProcess_HasTheUserOfItsRecord) {
  kernel_.Start({.tid = 80, .tgid = 80, .ran = 9, .uid = 4'294'967'294});
  kernel_.Free(80);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(kernel_.sample.short_lived[0].uid, 4'294'967'294U);
}

TEST_F(TaskLabelsTest, KernelThreadThatExecutesAProgram_IsAProcessAtTheNextScan) {
  kernel_.Start({.tid = 80, .tgid = 80, .comm = "modprobe", .kernel_thread = true});
  kernel_.Scan();
  EXPECT_TRUE(kernel_.Find(80)->info->kernel_thread);
  kernel_.living[80].kernel_thread = false;
  kernel_.Scan();
  EXPECT_FALSE(kernel_.Find(80)->info->kernel_thread);
}

TEST_F(TaskLabelsTest, ExecOfTheNextProcessOfAPid_DoesNotNameTheOneThatEnded) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1, .comm = "old"});
  kernel_.Scan();
  kernel_.living[50].ran = 9;
  kernel_.Free(50);
  kernel_.clock.Advance(std::chrono::milliseconds(1));
  kernel_.table.AddExec(50, kernel_.Now(), "/bin/new");
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].info, nullptr);
}

TEST_F(TaskLabelsTest, ProgramExecutedByAnotherPathInTheLastSlice_KeepsItsResolvedName) {
  kernel_.tree.MakeDir("proc/50");
  kernel_.tree.Symlink("proc/50/exe", "/usr/bin/python3.11");
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1, .comm = "python3"});
  kernel_.Scan();
  kernel_.living[50].ran = 9;
  kernel_.table.AddExec(50, kernel_.living[50].start, "/usr/bin/python3");
  kernel_.Free(50);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].info, nullptr) << "its series goes on";
}

TEST_F(TaskLabelsTest, ForkedChild_RunsWhatItsParentRuns) {
  kernel_.tree.MakeDir("proc/60");
  kernel_.tree.Symlink("proc/60/exe", "/usr/bin/make");
  kernel_.Start({.tid = 60, .tgid = 60, .comm = "make"});
  kernel_.Scan();
  kernel_.Start({.tid = 61, .tgid = 61, .ran = 9, .comm = "make", .parent = 60});
  kernel_.Start({.tid = 62, .tgid = 62, .ran = 9, .comm = "renamed", .parent = 60});
  kernel_.table.AddExec(70, 1, "/bin/sh");
  kernel_.Start({.tid = 71, .tgid = 71, .ran = 9, .comm = "sh", .parent = 70});
  for (const int tid : {61, 62, 71}) kernel_.Free(tid);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.short_lived, SizeIs(3));
  EXPECT_EQ(kernel_.sample.short_lived[0].exe, "/usr/bin/make");
  EXPECT_EQ(kernel_.sample.short_lived[1].exe, "");
  EXPECT_EQ(kernel_.sample.short_lived[2].exe, "/bin/sh");
}

TEST_F(TaskLabelsTest, ExecByAThreadThatIsNotTheLeader_KeepsProcessAndSum) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 100});
  kernel_.Start({.tid = 51, .tgid = 50, .ran = 40});
  kernel_.Scan();
  // The thread takes over id and start of the leader, which dies under the thread's id (de_thread, fs/exec.c).
  std::swap(kernel_.living[50].ran, kernel_.living[51].ran);
  kernel_.living[51].start = kernel_.living[50].start;
  kernel_.table.AddExec(50, kernel_.living[50].start, "/bin/other");
  kernel_.Free(51);
  kernel_.living[50].ran += 5;
  kernel_.Scan();
  EXPECT_EQ(kernel_.CpuOf(50), 5);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
  EXPECT_EQ(kernel_.Find(50)->info->exe, "/bin/other");
}

TEST_F(TaskLabelsTest, ExecInTheLastSlice_ExitReportsTheNewName) {
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 1, .comm = "sh"});
  kernel_.Scan();
  kernel_.living[50].comm = "true";
  kernel_.living[50].ran = 9;
  kernel_.table.AddExec(50, kernel_.living[50].start, "/bin/true");
  kernel_.Free(50);
  kernel_.Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  ASSERT_NE(kernel_.sample.exited[0].info, nullptr);
  EXPECT_EQ(kernel_.sample.exited[0].info->comm, "true");
  EXPECT_EQ(kernel_.sample.exited[0].info->exe, "/bin/true");
}

TEST_F(TaskLabelsTest, LabelChange_NewVersion) {
  kernel_.Start({.tid = 50, .tgid = 50, .comm = "a"});
  kernel_.Scan();
  const uint32_t before = kernel_.Find(50)->version;
  kernel_.Scan();
  EXPECT_EQ(kernel_.Find(50)->version, before);
  kernel_.living[50].comm = "b";
  kernel_.Scan();
  EXPECT_GT(kernel_.Find(50)->version, before);
  EXPECT_EQ(kernel_.Find(50)->info->comm, "b");
}

TEST_F(TaskLabelsTest, ThreadShownBeforeItsLeader_LabelsAreTheLeaders) {
  kernel_.Start({.tid = 80, .tgid = 80, .ran = 1, .comm = "leader"});
  kernel_.Start({.tid = 30, .tgid = 80, .ran = 2, .comm = "worker"});
  kernel_.Start({.tid = 40, .tgid = 40});
  kernel_.Scan();
  ASSERT_NE(kernel_.Find(80), nullptr);
  EXPECT_EQ(kernel_.Find(80)->info->comm, "leader");
  EXPECT_EQ(kernel_.CpuOf(80), 3);
  EXPECT_TRUE(std::ranges::is_sorted(kernel_.sample.processes, {}, [](const auto& p) { return p.info->key.tgid; }));
}

TEST_F(TaskLabelsTest, KernelThread_HasNoExe) {
  kernel_.tree.Symlink("proc/2/exe", "/never/read");
  kernel_.Start({.tid = 2, .tgid = 2, .comm = "kthreadd", .kernel_thread = true});
  kernel_.Scan();
  EXPECT_TRUE(kernel_.Find(2)->info->kernel_thread);
  EXPECT_EQ(kernel_.Find(2)->info->exe, "");
}

}  // namespace
}  // namespace kepler::activity::bpf
