// When ProcfsSource reads the user of a process.
#include <gtest/gtest.h>

#include "activity/procfs/fake_machine.h"

namespace kepler::activity::procfs {
namespace {

class ProcessUsers : public ::testing::Test {
 protected:
  FakeMachine machine_;
};

TEST_F(ProcessUsers, NewProcess_UserIsReadAgainAtTheSecondScan) {
  machine_.ScanWith({.pid = 1, .uid = 0});
  EXPECT_EQ(machine_.Find(1)->info->uid, 0U);
  machine_.ScanWith({.pid = 10, .start = machine_.NowTicks(), .uid = 0});
  machine_.Put({.pid = 10, .start = machine_.NowTicks() - 500, .uid = 33});
  const uint32_t version = machine_.Find(10)->version;
  machine_.Scan();
  EXPECT_EQ(machine_.Find(10)->info->uid, 33U);
  EXPECT_GT(machine_.Find(10)->version, version);
}

TEST_F(ProcessUsers, BusyProcess_UserIsReadAgainWithItsProgram) {
  for (int pid = 1; pid <= 200; ++pid) machine_.Put({.pid = pid, .uid = 0});
  for (int scan = 0; scan < 2; ++scan) machine_.Scan();
  machine_.ScanWith({.pid = 200, .ticks = 1, .uid = 1000});
  EXPECT_EQ(machine_.Find(200)->info->uid, 0U) << "the program is the same";
  machine_.ScanWith({.pid = 200, .ticks = 2, .comm = "bash", .uid = 1000});
  EXPECT_EQ(machine_.Find(200)->info->uid, 1000U);
}

TEST_F(ProcessUsers, ChangedProcess_OtherFilesAreReadOnce) {
  machine_.SetMachineBusy(0);
  for (int pid = 1; pid <= 200; ++pid) machine_.Put({.pid = pid, .uid = 0});
  for (int scan = 0; scan < 2; ++scan) machine_.Scan();
  machine_.tree.Remove("proc/200/cgroup");
  machine_.tree.MakeDir("proc/200/cgroup");  // each read fails, and is counted
  const uint64_t before = machine_.source().status().failed_reads;
  machine_.PutStat({.pid = 200, .ticks = 1, .comm = "bash"});
  machine_.Scan();
  EXPECT_EQ(machine_.Find(200)->info->comm, "bash");
  EXPECT_EQ(machine_.source().status().failed_reads, before + 1);
}

TEST_F(ProcessUsers, IdleProcess_UserIsReadAgainInRotation) {
  for (int pid = 1; pid <= 200; ++pid) machine_.Put({.pid = pid, .uid = 0});
  machine_.Scan();
  machine_.Put({.pid = 199, .uid = 1000});
  for (int scan = 0; scan < 14; ++scan) machine_.Scan();
  EXPECT_EQ(machine_.Find(199)->info->uid, 1000U) << "200 processes, 16 a scan: seen within 13";
}

TEST_F(ProcessUsers, WithoutUsers_StatusIsNotRead) {
  machine_.with_uids = false;
  machine_.SetMachineBusy(0);
  machine_.Put({.pid = 10});
  machine_.tree.MakeDir("proc/10/status");  // each read would fail, and be counted
  for (int scan = 0; scan < 3; ++scan) machine_.Scan();
  EXPECT_EQ(machine_.Find(10)->info->uid, kUnknownUid);
  EXPECT_EQ(machine_.source().status().failed_reads, 0U);
}

TEST_F(ProcessUsers, UnreadableStatus_UserIsUnknown) {
  machine_.ScanWith({.pid = 10});
  EXPECT_EQ(machine_.Find(10)->info->uid, kUnknownUid);
}

}  // namespace
}  // namespace kepler::activity::procfs
