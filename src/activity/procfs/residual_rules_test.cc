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

TEST_F(ResidualRules, UsageBeforeTheFirstLook_BelongsToNobody) {
  machine_.SetV2("/box", Ticks(500));
  machine_.Put({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  machine_.Look();
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
  machine_.Look();
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
}

TEST_F(ResidualRules, MoreThanTheKnownProcessesUsed_IsResidual) {
  machine_.SetV2("/box", Ticks(500));
  machine_.Put({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  machine_.Look();
  machine_.SetV2("/box", Ticks(550));
  machine_.Put({.pid = 10, .ticks = 120, .cgroup = "0::/box\n"});
  machine_.Look();
  EXPECT_EQ(machine_.TicksOf(10), 20);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(30))));
}

TEST_F(ResidualRules, LastSliceOfAnExitedProcess_IsResidualOfItsCgroup) {
  machine_.SetV2("/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .cgroup = "0::/box\n"});
  machine_.Look();
  machine_.End(10);
  machine_.SetV2("/box", Ticks(8));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(8))));
}

TEST_F(ResidualRules, LessThanTheKnownProcessesUsed_IsADebtNotClampedPerLook) {
  machine_.SetV2("/box", Ticks(0));
  machine_.Put({.pid = 10, .cgroup = "0::/box\n"});
  machine_.Look();
  // The cgroup's reading is a little older than the process': it lags by 5, then catches up and more.
  machine_.SetV2("/box", Ticks(15));
  machine_.Put({.pid = 10, .ticks = 20, .cgroup = "0::/box\n"});
  machine_.Look();
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
  machine_.SetV2("/box", Ticks(27));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(7)))) << "12 used, 5 of them were owed";
}

TEST_F(ResidualRules, WobblingDifference_IsBookedOnce) {
  machine_.SetV2("/box", Ticks(0));
  machine_.Put({.pid = 10, .cgroup = "0::/box\n"});
  machine_.Look();
  Nanoseconds booked{0};
  for (uint64_t look = 1; look <= 10; ++look) {
    machine_.SetV2("/box", Ticks(static_cast<int64_t>(look * 10 + look % 2)));
    machine_.Put({.pid = 10, .ticks = look * 10, .cgroup = "0::/box\n"});
    machine_.Look();
    for (const auto& residual : machine_.sample.residuals) booked += residual.cpu;
  }
  EXPECT_EQ(booked, Ticks(1));
}

TEST_F(ResidualRules, ChildCgroups_AreNotPartOfTheirParentsResidual) {
  machine_.SetV2("/pod", Ticks(100));
  machine_.SetV2("/pod/box", Ticks(60));
  machine_.Put({.pid = 1});
  machine_.Look();
  machine_.SetV2("/pod", Ticks(135));
  machine_.SetV2("/pod/box", Ticks(90));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(5)), Pair("/pod/box", Ticks(30))));
}

TEST_F(ResidualRules, CgroupThatAppearedSinceTheLastLook_CountsWhole) {
  machine_.SetV2("/pod", Ticks(100));
  machine_.Put({.pid = 1});
  machine_.Look();
  machine_.SetV2("/pod", Ticks(140));
  machine_.SetV2("/pod/box", Ticks(40));
  machine_.Put({.pid = 10, .ticks = 15, .start = machine_.NowTicks(), .cgroup = "0::/pod/box\n"});
  machine_.Look();
  EXPECT_EQ(machine_.TicksOf(10), 15);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(25))));
}

TEST_F(ResidualRules, GoneCgroup_ItsRestIsItsParentsResidualAndItsNumberIsReported) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  machine_.Look();
  machine_.SetV2("/pod", Ticks(30));
  machine_.SetV2("/pod/box", Ticks(30));
  machine_.Put({.pid = 10, .ticks = 10, .cgroup = "0::/pod/box\n"});
  machine_.Look();
  ASSERT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(20))));
  const uint32_t number = machine_.sample.residuals[0].cgroup;
  machine_.RemoveCgroup("/pod/box");
  machine_.End(10);
  machine_.SetV2("/pod", Ticks(37));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(7))));
  EXPECT_THAT(machine_.sample.gone_cgroups, ::testing::ElementsAre(number));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  EXPECT_THAT(machine_.sample.gone_cgroups, IsEmpty());
}

TEST_F(ResidualRules, GoneCgroupThatOwed_ItsParentOwes) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  machine_.Look();
  machine_.SetV2("/pod", Ticks(30));
  machine_.SetV2("/pod/box", Ticks(30));
  machine_.Put({.pid = 10, .ticks = 34, .cgroup = "0::/pod/box\n"});
  machine_.Look();
  machine_.RemoveCgroup("/pod/box");
  machine_.End(10);
  machine_.SetV2("/pod", Ticks(36));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(2))))
      << "4 of the last 6 were given to the process";
}

TEST_F(ResidualRules, WholeSubtreeGone_RestReachesTheLivingAncestor) {
  machine_.SetV2("/a", Ticks(0));
  machine_.SetV2("/a/b", Ticks(0));
  machine_.SetV2("/a/b/c", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Look();
  machine_.RemoveCgroup("/a/b");
  machine_.SetV2("/a", Ticks(11));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/a", Ticks(11))));
  EXPECT_THAT(machine_.sample.gone_cgroups, SizeIs(2));
}

TEST_F(ResidualRules, CgroupMadeAgainUnderTheSamePath_IsAnotherOne) {
  machine_.SetV2("/pod", Ticks(50));
  machine_.SetV2("/pod/box", Ticks(50));
  machine_.Put({.pid = 1});
  machine_.Look();
  machine_.tree.Reincarnate(std::string(FakeMachine::kV2) + "/pod/box");
  machine_.SetV2("/pod", Ticks(80));
  machine_.SetV2("/pod/box", Ticks(20));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(10)), Pair("/pod/box", Ticks(20))));
  EXPECT_THAT(machine_.sample.gone_cgroups, SizeIs(1));
}

TEST_F(ResidualRules, OneGoesAnotherComes_TheNewOneIsSeenAtOnce) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/old", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Look();
  machine_.RemoveCgroup("/pod/old");
  machine_.SetV2("/pod", Ticks(9));
  machine_.SetV2("/pod/new", Ticks(9));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/new", Ticks(9))));
}

TEST_F(ResidualRules, V2Root_HasNone) {
  machine_.SetV2("", Ticks(0));
  machine_.Put({.pid = 10});
  machine_.Look();
  machine_.SetV2("", Ticks(1000));
  machine_.Put({.pid = 10, .ticks = 5});
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
}

TEST_F(ResidualRules, V1Root_Has) {
  machine_.SetV1("", Ticks(100));
  machine_.Put({.pid = 10, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.Look();
  machine_.SetV1("", Ticks(117));
  machine_.Put({.pid = 10, .ticks = 10, .cgroup = "2:cpuacct:/\n0::/\n"});
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/", Ticks(7))));
}

TEST_F(ResidualRules, CpuacctSetToZeroByItsOwner_WhatWasUsedStaysUsed) {
  machine_.SetV1("", Ticks(100));
  machine_.SetV1("/box", Ticks(50));
  machine_.Put({.pid = 1, .cgroup = "2:cpuacct:/\n"});
  machine_.Look();
  machine_.SetV1("", Ticks(103));
  machine_.SetV1("/box", Ticks(3));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(3))));
}

TEST_F(ResidualRules, ExitingProcessFirstSeenUnderV1_IsLeftToTheResidualOfItsCgroup) {
  machine_.SetV1("", Ticks(0));
  machine_.SetV1("/box", Ticks(0));
  machine_.Put({.pid = 1, .cgroup = "2:cpuacct:/\n"});
  machine_.Look();
  machine_.SetV1("", Ticks(9));
  machine_.SetV1("/box", Ticks(9));
  machine_.Put({.pid = 10,
                .ticks = 9,
                .start = machine_.NowTicks(),
                .cgroup = "2:cpuacct:/\n",
                .exe = "",
                .flags = 4,
                .state = 'Z'});
  machine_.Look();
  EXPECT_EQ(machine_.TicksOf(10), 0);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(9))));
}

TEST_F(ResidualRules, ProcessThatMoves_NewCgroupGetsTheDeltaAndTheErrorIsPaidBack) {
  machine_.SetV2("/a", Ticks(0));
  machine_.SetV2("/b", Ticks(0));
  machine_.Put({.pid = 10, .cgroup = "0::/a\n"});
  machine_.Look();
  // 4 used in /a, 6 in /b; the look sees one delta of 10.
  machine_.SetV2("/a", Ticks(4));
  machine_.SetV2("/b", Ticks(6));
  machine_.Put({.pid = 10, .ticks = 10, .cgroup = "0::/b\n"});
  machine_.Look();
  EXPECT_EQ(machine_.TicksOf(10), 10);
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/a", Ticks(4))))
      << "bounded by what it used before it moved";
  machine_.SetV2("/b", Ticks(12));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/b", Ticks(2)))) << "/b paid its debt of 4";
}

TEST_F(ResidualRules, UnreadableCgroup_CostsItsOwnAndItsParentsResidualUntilItReads) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Look();
  machine_.SetV2("/pod", Ticks(10));
  machine_.tree.Write(std::string(FakeMachine::kV2) + "/pod/box/cpu.stat", "broken");
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), IsEmpty()) << "which of the two used it is not known";
  EXPECT_EQ(machine_.source().status().failed_cgroup_reads, 1U);
  machine_.SetV2("/pod", Ticks(12));
  machine_.SetV2("/pod/box", Ticks(11));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(1)), Pair("/pod/box", Ticks(11))));
}

TEST_F(ResidualRules, CgroupUnreadableFromTheStart_ItsPastIsNotBookedWhenItReads) {
  machine_.SetV2("/pod", Ticks(700));
  machine_.SetV2("/pod/box", Ticks(0));
  machine_.tree.Write(std::string(FakeMachine::kV2) + "/pod/box/cpu.stat", "broken");
  machine_.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  machine_.Look();
  machine_.SetV2("/pod", Ticks(705));
  machine_.Put({.pid = 10, .ticks = 5, .cgroup = "0::/pod/box\n"});
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  machine_.SetV2("/pod/box", Ticks(605));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  machine_.SetV2("/pod", Ticks(708));
  machine_.SetV2("/pod/box", Ticks(608));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(3))));
}

TEST_F(ResidualRules, ProcessInACgroupMadeAfterTheWalk_IsNotCountedTwiceLater) {
  machine_.SetV2("/pod", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Look();
  // /pod/late did not exist when the tree was walked, but its process is already there.
  machine_.Put({.pid = 10, .ticks = 7, .start = machine_.NowTicks(), .cgroup = "0::/pod/late\n"});
  machine_.Look();
  EXPECT_EQ(machine_.TicksOf(10), 7);
  machine_.SetV2("/pod", Ticks(9));
  machine_.SetV2("/pod/late", Ticks(9));
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair("/pod/late", Ticks(2))));
}

TEST_F(ResidualRules, LivingCgroups_AreThoseOfTheTreeWithTheNumbersOfTheirResiduals) {
  machine_.SetV2("/a", Ticks(0));
  machine_.SetV2("/b", Ticks(0));
  machine_.Put({.pid = 1});
  machine_.Look();
  const auto paths = [&] {
    std::map<std::string, uint32_t> all;
    for (const auto& living : machine_.source().LivingCgroups()) all.emplace(living.path, living.cgroup);
    return all;
  };
  auto before = paths();
  EXPECT_THAT(before, SizeIs(3)) << "with the root";
  machine_.RemoveCgroup("/a");
  machine_.SetV2("/c", Ticks(0));
  machine_.SetV2("/b", Ticks(2));
  machine_.Look();
  auto after = paths();
  EXPECT_FALSE(after.contains("/a"));
  EXPECT_TRUE(after.contains("/c"));
  EXPECT_NE(after["/c"], before["/a"]) << "numbers are not used again";
  EXPECT_EQ(after["/b"], before["/b"]);
  EXPECT_EQ(machine_.sample.residuals[0].cgroup, after["/b"]);
}

TEST_F(ResidualRules, FourKilobytePath_Works) {
  std::string path;
  while (path.size() + 201 < 3900) path += "/" + std::string(200, 'd');
  machine_.SetV2(path, Ticks(0));
  std::string above = path;
  while (!(above = above.substr(0, above.rfind('/'))).empty()) machine_.SetV2(above, Ticks(0));
  machine_.Put({.pid = 10, .cgroup = "0::" + path + "\n"});
  machine_.Look();
  for (above = path; !above.empty(); above = above.substr(0, above.rfind('/'))) machine_.SetV2(above, Ticks(5));
  machine_.Put({.pid = 10, .ticks = 2, .cgroup = "0::" + path + "\n"});
  machine_.Look();
  EXPECT_THAT(machine_.Residuals(), UnorderedElementsAre(Pair(path, Ticks(3))));
}

TEST_F(ResidualRules, NoTreeAtAll_ProcessesAreCountedAndNothingElse) {
  machine_.Put({.pid = 10, .cgroup = "0::/box\n"});
  machine_.Look();
  machine_.Put({.pid = 10, .ticks = 4, .cgroup = "0::/box\n"});
  machine_.Look();
  EXPECT_EQ(machine_.TicksOf(10), 4);
  EXPECT_THAT(machine_.sample.residuals, IsEmpty());
  EXPECT_THAT(machine_.source().LivingCgroups(), IsEmpty());
}

}  // namespace
}  // namespace kepler::activity::procfs
