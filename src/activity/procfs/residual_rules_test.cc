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
  FakeMachine m;
};

TEST_F(ResidualRules, UsageBeforeTheFirstLook_BelongsToNobody) {
  m.SetV2("/box", Ticks(500));
  m.Put({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  m.Look();
  EXPECT_THAT(m.sample.residuals, IsEmpty());
  m.Look();
  EXPECT_THAT(m.sample.residuals, IsEmpty());
}

TEST_F(ResidualRules, MoreThanTheKnownProcessesUsed_IsResidual) {
  m.SetV2("/box", Ticks(500));
  m.Put({.pid = 10, .ticks = 100, .cgroup = "0::/box\n"});
  m.Look();
  m.SetV2("/box", Ticks(550));
  m.Put({.pid = 10, .ticks = 120, .cgroup = "0::/box\n"});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 20);
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(30))));
}

TEST_F(ResidualRules, LastSliceOfAnExitedProcess_IsResidualOfItsCgroup) {
  m.SetV2("/box", Ticks(0));
  m.Put({.pid = 1});
  m.Put({.pid = 10, .cgroup = "0::/box\n"});
  m.Look();
  m.End(10);
  m.SetV2("/box", Ticks(8));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(8))));
}

TEST_F(ResidualRules, LessThanTheKnownProcessesUsed_IsADebtNotClampedPerLook) {
  m.SetV2("/box", Ticks(0));
  m.Put({.pid = 10, .cgroup = "0::/box\n"});
  m.Look();
  // The cgroup's reading is a little older than the process': it lags by 5, then catches up and more.
  m.SetV2("/box", Ticks(15));
  m.Put({.pid = 10, .ticks = 20, .cgroup = "0::/box\n"});
  m.Look();
  EXPECT_THAT(m.sample.residuals, IsEmpty());
  m.SetV2("/box", Ticks(27));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(7)))) << "12 used, 5 of them were owed";
}

TEST_F(ResidualRules, WobblingDifference_IsBookedOnce) {
  m.SetV2("/box", Ticks(0));
  m.Put({.pid = 10, .cgroup = "0::/box\n"});
  m.Look();
  Nanoseconds booked{0};
  for (uint64_t look = 1; look <= 10; ++look) {
    m.SetV2("/box", Ticks(static_cast<int64_t>(look * 10 + look % 2)));
    m.Put({.pid = 10, .ticks = look * 10, .cgroup = "0::/box\n"});
    m.Look();
    for (const auto& residual : m.sample.residuals) booked += residual.cpu;
  }
  EXPECT_EQ(booked, Ticks(1));
}

TEST_F(ResidualRules, ChildCgroups_AreNotPartOfTheirParentsResidual) {
  m.SetV2("/pod", Ticks(100));
  m.SetV2("/pod/box", Ticks(60));
  m.Put({.pid = 1});
  m.Look();
  m.SetV2("/pod", Ticks(135));
  m.SetV2("/pod/box", Ticks(90));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(5)), Pair("/pod/box", Ticks(30))));
}

TEST_F(ResidualRules, CgroupThatAppearedSinceTheLastLook_CountsWhole) {
  m.SetV2("/pod", Ticks(100));
  m.Put({.pid = 1});
  m.Look();
  m.SetV2("/pod", Ticks(140));
  m.SetV2("/pod/box", Ticks(40));
  m.Put({.pid = 10, .ticks = 15, .start = m.NowTicks(), .cgroup = "0::/pod/box\n"});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 15);
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(25))));
}

TEST_F(ResidualRules, GoneCgroup_ItsRestIsItsParentsResidualAndItsNumberIsReported) {
  m.SetV2("/pod", Ticks(0));
  m.SetV2("/pod/box", Ticks(0));
  m.Put({.pid = 1});
  m.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  m.Look();
  m.SetV2("/pod", Ticks(30));
  m.SetV2("/pod/box", Ticks(30));
  m.Put({.pid = 10, .ticks = 10, .cgroup = "0::/pod/box\n"});
  m.Look();
  ASSERT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(20))));
  const uint32_t number = m.sample.residuals[0].cgroup;
  m.RemoveCgroup("/pod/box");
  m.End(10);
  m.SetV2("/pod", Ticks(37));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(7))));
  EXPECT_THAT(m.sample.gone_cgroups, ::testing::ElementsAre(number));
  m.Look();
  EXPECT_THAT(m.Residuals(), IsEmpty());
  EXPECT_THAT(m.sample.gone_cgroups, IsEmpty());
}

TEST_F(ResidualRules, GoneCgroupThatOwed_ItsParentOwes) {
  m.SetV2("/pod", Ticks(0));
  m.SetV2("/pod/box", Ticks(0));
  m.Put({.pid = 1});
  m.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  m.Look();
  m.SetV2("/pod", Ticks(30));
  m.SetV2("/pod/box", Ticks(30));
  m.Put({.pid = 10, .ticks = 34, .cgroup = "0::/pod/box\n"});
  m.Look();
  m.RemoveCgroup("/pod/box");
  m.End(10);
  m.SetV2("/pod", Ticks(36));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(2))))
      << "4 of the last 6 were given to the process";
}

TEST_F(ResidualRules, WholeSubtreeGone_RestReachesTheLivingAncestor) {
  m.SetV2("/a", Ticks(0));
  m.SetV2("/a/b", Ticks(0));
  m.SetV2("/a/b/c", Ticks(0));
  m.Put({.pid = 1});
  m.Look();
  m.RemoveCgroup("/a/b");
  m.SetV2("/a", Ticks(11));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/a", Ticks(11))));
  EXPECT_THAT(m.sample.gone_cgroups, SizeIs(2));
}

TEST_F(ResidualRules, CgroupMadeAgainUnderTheSamePath_IsAnotherOne) {
  m.SetV2("/pod", Ticks(50));
  m.SetV2("/pod/box", Ticks(50));
  m.Put({.pid = 1});
  m.Look();
  m.tree.Reincarnate(std::string(FakeMachine::kV2) + "/pod/box");
  m.SetV2("/pod", Ticks(80));
  m.SetV2("/pod/box", Ticks(20));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(10)), Pair("/pod/box", Ticks(20))));
  EXPECT_THAT(m.sample.gone_cgroups, SizeIs(1));
}

TEST_F(ResidualRules, OneGoesAnotherComes_TheNewOneIsSeenAtOnce) {
  m.SetV2("/pod", Ticks(0));
  m.SetV2("/pod/old", Ticks(0));
  m.Put({.pid = 1});
  m.Look();
  m.RemoveCgroup("/pod/old");
  m.SetV2("/pod", Ticks(9));
  m.SetV2("/pod/new", Ticks(9));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod/new", Ticks(9))));
}

TEST_F(ResidualRules, V2Root_HasNone) {
  m.SetV2("", Ticks(0));
  m.Put({.pid = 10});
  m.Look();
  m.SetV2("", Ticks(1000));
  m.Put({.pid = 10, .ticks = 5});
  m.Look();
  EXPECT_THAT(m.Residuals(), IsEmpty());
}

TEST_F(ResidualRules, V1Root_Has) {
  m.SetV1("", Ticks(100));
  m.Put({.pid = 10, .cgroup = "2:cpuacct:/\n0::/\n"});
  m.Look();
  m.SetV1("", Ticks(117));
  m.Put({.pid = 10, .ticks = 10, .cgroup = "2:cpuacct:/\n0::/\n"});
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/", Ticks(7))));
}

TEST_F(ResidualRules, CpuacctSetToZeroByItsOwner_WhatWasUsedStaysUsed) {
  m.SetV1("", Ticks(100));
  m.SetV1("/box", Ticks(50));
  m.Put({.pid = 1, .cgroup = "2:cpuacct:/\n"});
  m.Look();
  m.SetV1("", Ticks(103));
  m.SetV1("/box", Ticks(3));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(3))));
}

TEST_F(ResidualRules, ExitingProcessFirstSeenUnderV1_IsLeftToTheResidualOfItsCgroup) {
  m.SetV1("", Ticks(0));
  m.SetV1("/box", Ticks(0));
  m.Put({.pid = 1, .cgroup = "2:cpuacct:/\n"});
  m.Look();
  m.SetV1("", Ticks(9));
  m.SetV1("/box", Ticks(9));
  m.Put({.pid = 10, .ticks = 9, .start = m.NowTicks(), .cgroup = "2:cpuacct:/\n", .exe = "", .flags = 4, .state = 'Z'});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 0);
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/box", Ticks(9))));
}

TEST_F(ResidualRules, ProcessThatMoves_NewCgroupGetsTheDeltaAndTheErrorIsPaidBack) {
  m.SetV2("/a", Ticks(0));
  m.SetV2("/b", Ticks(0));
  m.Put({.pid = 10, .cgroup = "0::/a\n"});
  m.Look();
  // 4 used in /a, 6 in /b; the look sees one delta of 10.
  m.SetV2("/a", Ticks(4));
  m.SetV2("/b", Ticks(6));
  m.Put({.pid = 10, .ticks = 10, .cgroup = "0::/b\n"});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 10);
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/a", Ticks(4)))) << "bounded by what it used before it moved";
  m.SetV2("/b", Ticks(12));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/b", Ticks(2)))) << "/b paid its debt of 4";
}

TEST_F(ResidualRules, UnreadableCgroup_CostsItsOwnAndItsParentsResidualUntilItReads) {
  m.SetV2("/pod", Ticks(0));
  m.SetV2("/pod/box", Ticks(0));
  m.Put({.pid = 1});
  m.Look();
  m.SetV2("/pod", Ticks(10));
  m.tree.Write(std::string(FakeMachine::kV2) + "/pod/box/cpu.stat", "broken");
  m.Look();
  EXPECT_THAT(m.Residuals(), IsEmpty()) << "which of the two used it is not known";
  EXPECT_EQ(m.source().Health().cgroup_reads_failed, 1U);
  m.SetV2("/pod", Ticks(12));
  m.SetV2("/pod/box", Ticks(11));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod", Ticks(1)), Pair("/pod/box", Ticks(11))));
}

TEST_F(ResidualRules, CgroupUnreadableFromTheStart_ItsPastIsNotBookedWhenItReads) {
  m.SetV2("/pod", Ticks(700));
  m.SetV2("/pod/box", Ticks(0));
  m.tree.Write(std::string(FakeMachine::kV2) + "/pod/box/cpu.stat", "broken");
  m.Put({.pid = 10, .cgroup = "0::/pod/box\n"});
  m.Look();
  m.SetV2("/pod", Ticks(705));
  m.Put({.pid = 10, .ticks = 5, .cgroup = "0::/pod/box\n"});
  m.Look();
  EXPECT_THAT(m.Residuals(), IsEmpty());
  m.SetV2("/pod/box", Ticks(605));
  m.Look();
  EXPECT_THAT(m.Residuals(), IsEmpty());
  m.SetV2("/pod", Ticks(708));
  m.SetV2("/pod/box", Ticks(608));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod/box", Ticks(3))));
}

TEST_F(ResidualRules, ProcessInACgroupMadeAfterTheWalk_IsNotCountedTwiceLater) {
  m.SetV2("/pod", Ticks(0));
  m.Put({.pid = 1});
  m.Look();
  // /pod/late did not exist when the tree was walked, but its process is already there.
  m.Put({.pid = 10, .ticks = 7, .start = m.NowTicks(), .cgroup = "0::/pod/late\n"});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 7);
  m.SetV2("/pod", Ticks(9));
  m.SetV2("/pod/late", Ticks(9));
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair("/pod/late", Ticks(2))));
}

TEST_F(ResidualRules, LivingCgroups_AreThoseOfTheTreeWithTheNumbersOfTheirResiduals) {
  m.SetV2("/a", Ticks(0));
  m.SetV2("/b", Ticks(0));
  m.Put({.pid = 1});
  m.Look();
  const auto paths = [&] {
    std::map<std::string, uint32_t> all;
    for (const auto& living : m.source().LivingCgroups()) all.emplace(living.path, living.cgroup);
    return all;
  };
  auto before = paths();
  EXPECT_THAT(before, SizeIs(3)) << "with the root";
  m.RemoveCgroup("/a");
  m.SetV2("/c", Ticks(0));
  m.SetV2("/b", Ticks(2));
  m.Look();
  auto after = paths();
  EXPECT_FALSE(after.contains("/a"));
  EXPECT_TRUE(after.contains("/c"));
  EXPECT_NE(after["/c"], before["/a"]) << "numbers are not used again";
  EXPECT_EQ(after["/b"], before["/b"]);
  EXPECT_EQ(m.sample.residuals[0].cgroup, after["/b"]);
}

TEST_F(ResidualRules, FourKilobytePath_Works) {
  std::string path;
  while (path.size() + 201 < 3900) path += "/" + std::string(200, 'd');
  m.SetV2(path, Ticks(0));
  std::string above = path;
  while (!(above = above.substr(0, above.rfind('/'))).empty()) m.SetV2(above, Ticks(0));
  m.Put({.pid = 10, .cgroup = "0::" + path + "\n"});
  m.Look();
  for (above = path; !above.empty(); above = above.substr(0, above.rfind('/'))) m.SetV2(above, Ticks(5));
  m.Put({.pid = 10, .ticks = 2, .cgroup = "0::" + path + "\n"});
  m.Look();
  EXPECT_THAT(m.Residuals(), UnorderedElementsAre(Pair(path, Ticks(3))));
}

TEST_F(ResidualRules, NoTreeAtAll_ProcessesAreCountedAndNothingElse) {
  m.Put({.pid = 10, .cgroup = "0::/box\n"});
  m.Look();
  m.Put({.pid = 10, .ticks = 4, .cgroup = "0::/box\n"});
  m.Look();
  EXPECT_EQ(m.TicksOf(10), 4);
  EXPECT_THAT(m.sample.residuals, IsEmpty());
  EXPECT_THAT(m.source().LivingCgroups(), IsEmpty());
}

}  // namespace
}  // namespace kepler::activity::procfs
