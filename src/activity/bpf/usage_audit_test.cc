#include "activity/bpf/usage_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "activity/bpf/usage_audit_fixture.h"

namespace kepler::activity::bpf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST_F(UsageAuditTest, EverythingTold_NothingIsCharged) {
  for (int look = 0; look < 5; ++look) {
    LoseSomething();
    Run(milliseconds(30));
    kernel_.table.AddFreed(RunBrief(milliseconds(5)));
    Look();
  }
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5 * 35));
}

TEST_F(UsageAuditTest, EndThatNobodyToldOf_IsChargedToItsCgroup) {
  RunBrief(milliseconds(5));
  LoseSomething();
  Look();
  EXPECT_THAT(charged_, IsEmpty()) << "its record may only be late";
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
  for (int look = 0; look < 100; ++look) Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5)))) << "once";
}

TEST_F(UsageAuditTest, EndThatNobodyToldOfInABusyCgroup_IsChargedToo) {
  for (int look = 0; look < 5; ++look) {
    if (look == 2) RunBrief(milliseconds(5));
    LoseSomething();
    Run(milliseconds(800));
    Look();
  }
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
}

TEST_F(UsageAuditTest, LossThatIsKnownMuchLater_IsChargedThen) {
  Look();
  RunBrief(milliseconds(5));
  Look(seconds(58));
  Look();
  EXPECT_THAT(charged_, IsEmpty()) << "so far it may be any error of booking";
  EXPECT_EQ(audit_->status().last, kernel_.clock.Now() - seconds(1));
  LoseSomething();
  Look();
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
}

TEST_F(UsageAuditTest, MissingForMinutesWithoutAnyLoss_WasGivenElsewhere) {
  for (int minute = 0; minute < 3; ++minute) {
    RunBrief(milliseconds(5));
    Look(seconds(58));
    Look();
  }
  EXPECT_THAT(charged_, IsEmpty());
  LoseSomething();
  RunBrief(milliseconds(2));
  Look();
  Look();
  EXPECT_EQ(GivenInAll(), milliseconds(2 + 5)) << "only the latest could be part of the loss";
}

TEST_F(UsageAuditTest, CgroupOfThreads_MissesNothing) {
  cgroup_tree_.Write("cgroup/vcpu0/cgroup.type", "threaded\n");
  Use("/vcpu0", milliseconds(5));
  LoseSomething();
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty()) << "its process is known in another cgroup";
}

TEST_F(UsageAuditTest, LooksWhileSomethingIsLost_ReadNoMoreThanTheirShare) {
  LoseSomething();
  Look();
  reading_takes_ = milliseconds(30);
  std::vector<BootTime> settled;
  for (int look = 0; look < 7; ++look) {
    Look();
    settled.push_back(audit_->status().last);
  }
  EXPECT_EQ(std::ranges::count(settled, settled.back()), 2) << "one in two: 1.5 s have to pass";
}

TEST_F(UsageAuditTest, ProcessWhoseCgroupIsReadAgain_GoesOnInItsAccount) {
  LoseSomething();
  // The directory forgets what nobody asks for, and makes it anew for a process that executes something.
  for (int look = 0; look < 3; ++look) Look(seconds(31));
  kernel_.table.AddExec(10, 6, "/bin/sh");
  LoseSomething();
  for (int look = 0; look < 3; ++look) Look(seconds(31));
  Run(milliseconds(40));
  LoseSomething();
  Look();
  Look();
  EXPECT_EQ(given_, milliseconds(40));
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, LateRecord_IsNotMissing) {
  LoseSomething();
  const kepler_task record = RunBrief(milliseconds(5));
  Look();
  kernel_.table.AddFreed(record);
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5));
}

TEST_F(UsageAuditTest, LastSliceWhoseRecordIsLate_IsNotMissing) {
  LoseSomething();
  Run(milliseconds(5));
  const kepler_task record = kernel_.End(10);
  Look();
  kernel_.table.AddFreed(record);
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5));
}

TEST_F(UsageAuditTest, RecordThatComesAfterItsTimeWasCharged_IsNotGivenAgain) {
  LoseSomething();
  const kepler_task record = RunBrief(milliseconds(5));
  Look();
  Look();
  EXPECT_EQ(charged_["/box"], milliseconds(5));
  kernel_.table.AddFreed(record);
  RunBrief(milliseconds(3), 51);
  Look();
  EXPECT_EQ(given_.count(), 0);
  ASSERT_EQ(kernel_.sample.briefs.size(), 1U);
  EXPECT_EQ(kernel_.sample.briefs[0].cpu.count(), 0);
  Look();
  EXPECT_EQ(GivenInAll(), milliseconds(8)) << "what is missing later is charged all the same";
}

TEST_F(UsageAuditTest, LastSliceThatComesAfterItsTimeWasCharged_IsNotGivenAgain) {
  LoseSomething();
  Run(milliseconds(5));
  const kepler_task record = kernel_.End(10);
  Look();
  Look();
  kernel_.table.AddFreed(record);
  Look();
  Look();
  EXPECT_EQ(GivenInAll(), milliseconds(5));
}

TEST_F(UsageAuditTest, LooksInQuickSuccession_WaitForTheRecords) {
  LoseSomething();
  const kepler_task record = RunBrief(milliseconds(5));
  Look(milliseconds(20));
  Look(milliseconds(20));
  Look(milliseconds(20));
  EXPECT_THAT(charged_, IsEmpty());
  kernel_.table.AddFreed(record);
  Look(milliseconds(100));
  Look(milliseconds(100));
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, TimeOfMicroseconds_WaitsUntilItIsWorthIt) {
  LoseSomething();
  RunBrief(std::chrono::microseconds(60));
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty());
  RunBrief(std::chrono::microseconds(60));
  Look();
  Look();
  EXPECT_EQ(charged_["/box"], std::chrono::microseconds(120));
}

TEST_F(UsageAuditTest, PassThatFailed_ChargesNothing) {
  LoseSomething();
  Run(milliseconds(50));
  kernel_.clock.Advance(seconds(1));
  audit_->BeforePass(kernel_.table, kernel_.clock, losses_, status_, kernel_.sample.gone_cgroups);
  audit_->Abandon();
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, CgroupThatIsGone_WhatWasMissingInItStaysItsOwnIfItWasRead) {
  LoseSomething();
  RunBrief(milliseconds(5));
  Look();
  kernel_.End(10);
  cgroup_tree_.Remove("cgroup/box");
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
  EXPECT_THAT(kernel_.sample.gone_cgroups, IsEmpty()) << "this sample still names it";
  Look();
  EXPECT_EQ(kernel_.sample.gone_cgroups.size(), 1U);
}

TEST_F(UsageAuditTest, CgroupThatIsGoneBeforeItWasRead_ItsMissingTimeIsItsParents) {
  LoseSomething();
  Look();
  RunBrief(milliseconds(5));
  kernel_.table.AddFreed(kernel_.End(10));
  cgroup_tree_.Remove("cgroup/box");
  Look();
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/", milliseconds(5))));
}

TEST_F(UsageAuditTest, CgroupThatCameMeanwhile_CountsFromItsBeginning) {
  Use("/new", milliseconds(40));
  kernel_.cgroups.Made(0, IdOf("/new"), "/new");
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 33'000'000, .cgroup = IdOf("/new")});
  LoseSomething();
  Look();
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/new", milliseconds(7))));
}

TEST_F(UsageAuditTest, HandOver_TellsWhatWasSettled) {
  RunBrief(milliseconds(5));
  LoseSomething();
  Look();
  kernel_.clock.Advance(seconds(1));
  audit_->BeforePass(kernel_.table, kernel_.clock, losses_, status_, kernel_.sample.gone_cgroups);
  ActivitySample last;
  audit_->HandOver(last);
  ASSERT_EQ(last.residuals.size(), 1U);
  EXPECT_EQ(last.residuals[0].cpu, milliseconds(5));
  EXPECT_EQ(audit_->status().charged, milliseconds(5));
}

TEST_F(UsageAuditTest, WorstRatio_IsWhatWasMissing) {
  LoseSomething();
  Run(milliseconds(1900));
  RunBrief(milliseconds(100));
  Look();
  EXPECT_EQ(audit_->status().comparisons, 0U);
  Look();
  EXPECT_EQ(audit_->status().comparisons, 1U);
  EXPECT_NEAR(audit_->status().worst_ratio, 0.05, 1e-6);
  EXPECT_EQ(audit_->status().charged, milliseconds(100));
  for (int minute = 0; minute < 3; ++minute) {
    LoseSomething();
    Run(seconds(2));
    Look(seconds(61));
    Look();
    if (minute == 0) {
      EXPECT_NEAR(audit_->status().worst_ratio, 0.05, 1e-6);
    }
  }
  EXPECT_NEAR(audit_->status().worst_ratio, 0, 1e-6) << "it is of the last two minutes";
}

TEST_F(UsageAuditTest, NoTree_NothingHappens) {
  UsageAudit audit({}, {});
  EXPECT_FALSE(audit.possible());
  audit.BeforePass(kernel_.table, kernel_.clock, 1, status_, kernel_.sample.gone_cgroups);
  audit.Book(kernel_.sample, kernel_.cgroups, kernel_.table);
  EXPECT_THAT(kernel_.sample.residuals, IsEmpty());
  EXPECT_EQ(audit.status().last, BootTime{});
}

}  // namespace
}  // namespace kepler::activity::bpf
