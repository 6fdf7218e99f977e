// Processes that change their cgroup, and cgroups that change under their processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "activity/bpf/usage_audit_fixture.h"

namespace kepler::activity::bpf {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class UsageAuditMoves : public UsageAuditTest {
 protected:
  /// Forked in `parent`, 4 ms there; then 10 ms in the box, which is where the pass finds it.
  void MoveNewProcess(const std::string& parent, uint64_t from) {
    Use(parent, milliseconds(4));
    Use("/box", milliseconds(10));
    kernel_.Start({.tid = 50, .tgid = 50, .ran = 14'000'000, .cgroup = IdOf("/box")});
    kernel_.table.AddMove(50, kernel_.living.at(50).start, {4'000'000, from});
    Scan();
  }
  /// The box is removed, and another is made under its path, where `pid` runs for that long.
  void MakeBoxAnew(int pid, milliseconds ran) {
    const uint64_t before = IdOf("/box");
    cgroup_tree_.Remove("cgroup/box");
    kernel_.cgroups.Removed(0, before);
    usage_["/box"] = {};
    Use("/box", ran);
    ASSERT_NE(IdOf("/box"), before);
    kernel_.cgroups.Made(0, IdOf("/box"), "/box");
    kernel_.Start(
        {.tid = pid, .tgid = pid, .ran = static_cast<uint64_t>(Nanoseconds(ran).count()), .cgroup = IdOf("/box")});
  }
};

TEST_F(UsageAuditMoves, WhatANewProcessRanBeforeItWasMoved_HidesNothingThatIsMissing) {
  LoseSomething();
  MoveNewProcess("", 0);
  EXPECT_EQ(kernel_.CpuOf(50), 14'000'000) << "it is the process' all the same";
  Scan();
  EXPECT_THAT(charged_, IsEmpty());
  ExpectLossIsCharged();
}

TEST_F(UsageAuditMoves, WhatAShortLivedProcessRanBeforeItWasMoved_HidesNothingEither) {
  LoseSomething();
  Use("", milliseconds(4));
  kernel_.clock.Advance(milliseconds(1));
  kernel_.table.AddMove(50, kernel_.Now(), {4'000'000, 0});
  kepler_task record = RunShortLived(milliseconds(10));
  record.ran += 4'000'000;
  record.group_ran_dead += 4'000'000;
  kernel_.table.AddFreed(record);
  RunShortLived(milliseconds(3), 51);
  Scan();
  EXPECT_EQ(given_, milliseconds(14));
  Scan();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(3))));
}

TEST_F(UsageAuditMoves, KnownProcessThatIsMoved_ItsTimeIsInBothCgroups) {
  LoseSomething();
  Run(milliseconds(6));
  const uint64_t ran = kernel_.living.at(10).ran;
  kernel_.table.AddMove(10, 6, {ran, 0});
  kernel_.living.at(10).cgroup = IdOf("/other");
  kernel_.living.at(10).ran += 2'000'000;
  Use("/other", milliseconds(2));
  ExpectLossIsCharged();
}

TEST_F(UsageAuditMoves, WhatANewProcessRanBeforeItWasMoved_IsInTheCgroupOfItsParent) {
  LoseSomething();
  MoveNewProcess("/other", IdOf("/other"));
  Scan();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(GivenInAll(), milliseconds(14));
}

TEST_F(UsageAuditMoves, ProcessOfThreadsThatIsMoved_IsMissingNowhere) {
  kernel_.Start({.tid = 11, .tgid = 10, .cgroup = IdOf("/box")});
  kernel_.living.at(11).ran = 50'000'000;
  Use("/box", milliseconds(50));
  Scan();
  LoseSomething();
  kernel_.living.at(11).ran += 9'000'000;
  Use("/box", milliseconds(5));
  Use("/other", milliseconds(4));
  kernel_.table.AddMove(10, 6, {1000, 0});  // of its leader
  for (const int tid : {10, 11}) kernel_.living.at(tid).cgroup = IdOf("/other");
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditMoves, CgroupMadeAnewUnderItsPath_IsAnother) {
  LoseSomething();
  Scan();
  // It runs on, ends, and its successor runs before anybody reads a usage.
  Run(milliseconds(20));
  kernel_.table.AddFreed(kernel_.End(10));
  MakeBoxAnew(60, milliseconds(30));
  for (int scan = 0; scan < 4; ++scan) {
    LoseSomething();
    Scan();
  }
  EXPECT_THAT(charged_, IsEmpty());
  ExpectLossIsCharged();
  EXPECT_EQ(GivenInAll(), milliseconds(53));
}

TEST_F(UsageAuditMoves, CgroupsMadeAnewUnderTheirPaths_KeepWhatIsKnownOfThem) {
  Use("/box/inner", milliseconds(1));
  LoseSomething();
  ScanTwice();
  charged_.clear();
  kernel_.table.AddFreed(kernel_.End(10));
  for (const char* path : {"/box/inner", "/box"}) {
    kernel_.cgroups.Removed(0, IdOf(path));
    usage_[path] = {};
  }
  cgroup_tree_.Remove("cgroup/box");
  Use("/box/inner", milliseconds(30));
  for (const char* path : {"/box", "/box/inner"}) kernel_.cgroups.Made(0, IdOf(path), path);
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 30'000'000, .cgroup = IdOf("/box/inner")});
  Scan(milliseconds(1));  // books it; the usages that were read last still wait for their records
  for (int scan = 0; scan < 4; ++scan) {
    LoseSomething();
    Scan();
  }
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditMoves, CgroupMadeAnewTwiceUnderItsPath_TheLastIsNotTheOneBefore) {
  LoseSomething();
  Scan();
  int pid = 10;
  for (const auto ran : {milliseconds(30), milliseconds(20)}) {
    kernel_.table.AddFreed(kernel_.End(pid++));
    MakeBoxAnew(pid, ran);
    Scan(milliseconds(1));
  }
  for (int scan = 0; scan < 4; ++scan) {
    LoseSomething();
    Scan();
  }
  EXPECT_THAT(charged_, IsEmpty());
  ExpectLossIsCharged();
}

TEST_F(UsageAuditMoves, MoveThatAPassShowedFirst_IsBookedOnce) {
  LoseSomething();
  kernel_.living.at(10).cgroup = IdOf("/other");
  Run(milliseconds(6));
  Scan();
  charged_.clear();
  kernel_.table.AddMove(10, 6, {5'000'000, 0});
  kernel_.living.at(10).ran += 9'000'000;
  Use("/other", milliseconds(9));
  Scan();
  RunShortLived(milliseconds(3));
  ScanTwice();
  Use("/other", milliseconds(10));
  ScanTwice();
  EXPECT_EQ(charged_["/other"], milliseconds(4)) << "6 ms were given before anybody could know, 9 ms only once";
}

}  // namespace
}  // namespace kepler::activity::bpf
