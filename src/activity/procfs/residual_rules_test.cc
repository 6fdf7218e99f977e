// Time that a cgroup used and no known process did: ProcfsSource on cgroup trees made of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "activity/procfs/fake_machine.h"

namespace kepler::activity::procfs {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ResidualRules : public ::testing::Test {
 protected:
  FakeMachine machine_;
};

TEST_F(ResidualRules, UsageBeforeTheFirstScan_BelongsToNobody) {
  machine_.SetV2("/box", Ticks(500));
  machine_.ScanWith({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
  machine_.Scan();
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
}

TEST_F(ResidualRules, MoreThanTheKnownProcessesUsed_IsResidual) {
  machine_.SetV2("/box", Ticks(500));
  machine_.ScanWith({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  machine_.SetV2("/box", Ticks(550));
  machine_.ScanWith({.pid = 10, .ticks = 120, .cgroup = "0::/box\n"});
  EXPECT_EQ(machine_.TicksOf(10), 20);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(30))));
}

TEST_F(ResidualRules, LastSliceOfAnExitedProcess_IsResidualOfItsCgroup) {
  machine_.SetV2("/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .cgroup = "0::/box\n"});
  machine_.Scan();
  machine_.End(10);
  machine_.SetV2("/box", Ticks(8));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(8))));
}

TEST_F(ResidualRules, LessThanTheKnownProcessesUsed_IsADebtNotClampedPerScan) {
  machine_.SetV2("/box", Ticks(0));
  machine_.ScanWith({.pid = 10, .cgroup = "0::/box\n"});
  // The cgroup's reading is a little older than the process': it lags by 5, then catches up and more.
  machine_.SetV2("/box", Ticks(15));
  machine_.ScanWith({.pid = 10, .ticks = 20, .cgroup = "0::/box\n"});
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
  machine_.SetV2("/box", Ticks(27));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(7)))) << "12 used, 5 of them were owed";
}

TEST_F(ResidualRules, WobblingDifference_IsBookedOnce) {
  machine_.SetV2("/box", Ticks(0));
  machine_.ScanWith({.pid = 10, .cgroup = "0::/box\n"});
  Nanoseconds booked{0};
  for (uint64_t scan = 1; scan <= 10; ++scan) {
    machine_.SetV2("/box", Ticks(static_cast<int64_t>(scan * 10 + scan % 2)));
    machine_.Put({.pid = 10, .ticks = scan * 10, .cgroup = "0::/box\n"});
    machine_.Scan();
    for (const auto& residual : machine_.sample.residuals) booked += residual.cpu;
  }
  EXPECT_EQ(booked, Ticks(1));
}

TEST_F(ResidualRules, FirstListThatFails_NeitherGivesNorChargesWhatWasUsedSince) {
  machine_.SetV2("/box", Ticks(100));
  machine_.Scan();
  ASSERT_NE(machine_.last_error, "") << "no process is listed";
  machine_.SetV2("/box", Ticks(130));
  machine_.ScanWith({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  EXPECT_EQ(machine_.source().status().audit.charged, Nanoseconds(0));
  machine_.SetV2("/box", Ticks(150));
  machine_.ScanWith({.pid = 10, .ticks = 115, .cgroup = "0::/box\n"});
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(5))));
  EXPECT_EQ(machine_.source().status().audit.charged, Ticks(5));
}

TEST_F(ResidualRules, ChildCgroups_AreNotPartOfTheirParentsResidual) {
  machine_.SetV2("/pod", Ticks(100));
  machine_.SetV2("/pod/box", Ticks(60));
  machine_.ScanWith({.pid = 1});
  machine_.SetV2("/pod", Ticks(135));
  machine_.SetV2("/pod/box", Ticks(90));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(5)), Pair("/pod/box", Ticks(30))));
}

TEST_F(ResidualRules, CgroupThatAppearedSinceTheLastScan_CountsWhole) {
  machine_.SetV2("/pod", Ticks(100));
  machine_.ScanWith({.pid = 1});
  machine_.SetV2("/pod", Ticks(140));
  machine_.SetV2("/pod/box", Ticks(40));
  machine_.ScanWith({.pid = 10, .ticks = 15, .start = machine_.NowTicks(), .cgroup = "0::/pod/box\n"});
  EXPECT_EQ(machine_.TicksOf(10), 15);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(25))));
}

TEST_F(ResidualRules, GoneCgroup_ItsRestIsItsParentsResidual) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  machine_.Scan();
  machine_.SetV2("/pod", Ticks(30));
  machine_.SetV2("/pod/box", Ticks(30));
  machine_.ScanWith({.pid = 10, .ticks = 10, .cgroup = "0::/pod/box\n"});
  ASSERT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(20))));
  machine_.RemoveCgroup("/pod/box");
  machine_.End(10);
  machine_.SetV2("/pod", Ticks(37));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(7))));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
}

TEST_F(ResidualRules, GoneCgroupThatOwed_ItsParentOwes) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  machine_.Scan();
  machine_.SetV2("/pod", Ticks(30));
  machine_.SetV2("/pod/box", Ticks(30));
  machine_.ScanWith({.pid = 10, .ticks = 34, .cgroup = "0::/pod/box\n"});
  machine_.RemoveCgroup("/pod/box");
  machine_.End(10);
  machine_.SetV2("/pod", Ticks(36));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(2))))
      << "4 of the last 6 were given to the process";
}

TEST_F(ResidualRules, WholeSubtreeGone_RestReachesTheLivingAncestor) {
  machine_.SetV2("/a", Ticks(0));
  machine_.SetV2("/a/b", Ticks(0));
  machine_.SetV2("/a/b/c", Ticks(0));
  machine_.ScanWith({.pid = 1});
  machine_.RemoveCgroup("/a/b");
  machine_.SetV2("/a", Ticks(11));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/a", Ticks(11))));
  EXPECT_THAT(machine_.source().LivingCgroups(), SizeIs(2)) << "the root and /a";
}

TEST_F(ResidualRules, CgroupMadeAgainUnderTheSamePath_IsAnotherOne) {
  machine_.SetV2("/pod", Ticks(50));
  machine_.SetV2("/pod/box", Ticks(50));
  machine_.ScanWith({.pid = 1});
  const auto before = machine_.Cgroup("/pod/box");
  machine_.tree.Reincarnate(std::string(FakeMachine::kV2) + "/pod/box");
  machine_.SetV2("/pod", Ticks(80));
  machine_.SetV2("/pod/box", Ticks(20));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(10)), Pair("/pod/box", Ticks(20))));
  EXPECT_NE(machine_.Cgroup("/pod/box"), before);
}

TEST_F(ResidualRules, OneGoesAnotherComes_TheNewOneIsSeenAtOnce) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/old", Ticks(0));
  machine_.ScanWith({.pid = 1});
  machine_.RemoveCgroup("/pod/old");
  machine_.SetV2("/pod", Ticks(9));
  machine_.SetV2("/pod/new", Ticks(9));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/new", Ticks(9))));
}

TEST_F(ResidualRules, V2Root_HasNone) {
  machine_.SetV2("", Ticks(0));
  machine_.ScanWith({.pid = 10});
  machine_.SetV2("", Ticks(1000));
  machine_.ScanWith({.pid = 10, .ticks = 5});
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
}

TEST_F(ResidualRules, V1Root_Has) {
  machine_.SetV1("", Ticks(100));
  machine_.ScanWith({.pid = 10, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.SetV1("", Ticks(117));
  machine_.ScanWith({.pid = 10, .ticks = 10, .cgroup = "2:cpuacct:/\n0::/\n"});
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/", Ticks(7))));
}

TEST_F(ResidualRules, CpuacctSetToZeroByItsOwner_WhatWasUsedStaysUsed) {
  machine_.SetV1("", Ticks(100));
  machine_.SetV1("/box", Ticks(50));
  machine_.ScanWith({.pid = 1, .cgroup = "2:cpuacct:/\n"});
  machine_.SetV1("", Ticks(103));
  machine_.SetV1("/box", Ticks(3));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(3))));
}

TEST_F(ResidualRules, ExitingProcessFirstSeenUnderV1_IsLeftToTheResidualOfItsCgroup) {
  machine_.SetV1("", Ticks(0));
  machine_.SetV1("/box", Ticks(0));
  machine_.ScanWith({.pid = 1, .cgroup = "2:cpuacct:/\n"});
  machine_.SetV1("", Ticks(9));
  machine_.SetV1("/box", Ticks(9));
  machine_.ScanWith({.pid = 10,
                     .ticks = 9,
                     .start = machine_.NowTicks(),
                     .cgroup = "2:cpuacct:/\n",
                     .exe = "",
                     .flags = 4,
                     .state = 'Z'});
  EXPECT_EQ(machine_.TicksOf(10), 0);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(9))));
}

TEST_F(ResidualRules, ProcessThatMoves_NewCgroupGetsTheDeltaAndTheErrorIsPaidBack) {
  machine_.SetV2("/a", Ticks(0));
  machine_.SetV2("/b", Ticks(0));
  machine_.ScanWith({.pid = 10, .cgroup = "0::/a\n"});
  // 4 used in /a, 6 in /b; the scan sees one delta of 10.
  machine_.SetV2("/a", Ticks(4));
  machine_.SetV2("/b", Ticks(6));
  machine_.ScanWith({.pid = 10, .ticks = 10, .cgroup = "0::/b\n"});
  EXPECT_EQ(machine_.TicksOf(10), 10);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/a", Ticks(4))))
      << "bounded by what it used before it moved";
  machine_.SetV2("/b", Ticks(12));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/b", Ticks(2)))) << "/b paid its debt of 4";
}

TEST_F(ResidualRules, UnreadableCgroup_CostsItsOwnAndItsParentsResidualUntilItReads) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.ScanWith({.pid = 1});
  machine_.SetV2("/pod", Ticks(10));
  machine_.tree.Write(std::string(FakeMachine::kV2) + "/pod/box/cpu.stat", "broken");
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), IsEmpty()) << "which of the two used it is not known";
  EXPECT_EQ(machine_.source().status().failed_cgroup_reads, 1U);
  machine_.SetV2("/pod", Ticks(12));
  machine_.SetV2("/pod/box", Ticks(11));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(1)), Pair("/pod/box", Ticks(11))));
}

TEST_F(ResidualRules, CgroupUnreadableFromTheStart_ItsPastIsNotBookedWhenItReads) {
  machine_.SetV2("/pod", Ticks(700));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.tree.Write(std::string(FakeMachine::kV2) + "/pod/box/cpu.stat", "broken");
  machine_.ScanWith({.pid = 10, .cgroup = "0::/pod/box\n"});
  machine_.SetV2("/pod", Ticks(705));
  machine_.ScanWith({.pid = 10, .ticks = 5, .cgroup = "0::/pod/box\n"});
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  machine_.SetV2("/pod/box", Ticks(605));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  machine_.SetV2("/pod", Ticks(708));
  machine_.SetV2("/pod/box", Ticks(608));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(3))));
}

TEST_F(ResidualRules, ProcessInACgroupMadeAfterTheWalk_IsNotCountedTwiceLater) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.ScanWith({.pid = 1});
  // /pod/late did not exist when the tree was walked, but its process is already there.
  machine_.ScanWith({.pid = 10, .ticks = 7, .start = machine_.NowTicks(), .cgroup = "0::/pod/late\n"});
  EXPECT_EQ(machine_.TicksOf(10), 7);
  machine_.SetV2("/pod", Ticks(9));
  machine_.SetV2("/pod/late", Ticks(9));
  machine_.Scan();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/late", Ticks(2))));
}

TEST_F(ResidualRules, LivingCgroups_AreThoseOfTheTreeAndOfTheirResiduals) {
  machine_.SetV2("/a", Ticks(0));
  machine_.SetV2("/b", Ticks(0));
  machine_.ScanWith({.pid = 1});
  EXPECT_THAT(machine_.source().LivingCgroups(), SizeIs(3)) << "with the root";
  const auto before = machine_.Cgroup("/b");
  machine_.RemoveCgroup("/a");
  machine_.SetV2("/c", Ticks(0));
  machine_.SetV2("/b", Ticks(2));
  machine_.Scan();
  EXPECT_EQ(machine_.Cgroup("/a"), nullptr);
  EXPECT_NE(machine_.Cgroup("/c"), nullptr);
  EXPECT_EQ(machine_.Cgroup("/b"), before);
  EXPECT_EQ(machine_.sample.residuals[0].cgroup, before);
}

TEST_F(ResidualRules, FourKilobytePath_Works) {
  std::string path;
  while (path.size() + 201 < 3900) path += "/" + std::string(200, 'd');
  machine_.SetV2(path, Ticks(0));
  std::string above = path;
  while (!(above = above.substr(0, above.rfind('/'))).empty()) machine_.SetV2(above, Ticks(0));
  machine_.ScanWith({.pid = 10, .cgroup = "0::" + path + "\n"});
  for (above = path; !above.empty(); above = above.substr(0, above.rfind('/'))) machine_.SetV2(above, Ticks(5));
  machine_.ScanWith({.pid = 10, .ticks = 2, .cgroup = "0::" + path + "\n"});
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(path, Ticks(3))));
}

TEST_F(ResidualRules, NoTreeAtAll_ProcessesAreCountedAndNothingElse) {
  machine_.ScanWith({.pid = 10, .cgroup = "0::/box\n"});
  machine_.Put({.pid = 10, .ticks = 4, .cgroup = "0::/box\n"});
  machine_.Scan();
  EXPECT_EQ(machine_.TicksOf(10), 4);
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
  EXPECT_THAT(machine_.source().LivingCgroups(), IsEmpty());
}

}  // namespace
}  // namespace kepler::activity::procfs
