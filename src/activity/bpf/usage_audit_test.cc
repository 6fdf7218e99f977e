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

TEST_F(UsageAuditTest, EverythingReported_NothingIsCharged) {
  for (int scan = 0; scan < 5; ++scan) {
    LoseSomething();
    Run(milliseconds(30));
    kernel_.table.AddFreed(RunShortLived(milliseconds(5)));
    Scan();
  }
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5 * 35));
}

TEST_F(UsageAuditTest, EndThatNobodyReported_IsChargedToItsCgroup) {
  RunShortLived(milliseconds(5));
  LoseSomething();
  Scan();
  EXPECT_THAT(charged_, IsEmpty()) << "its record may only be late";
  Scan();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
  for (int scan = 0; scan < 100; ++scan) Scan();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5)))) << "once";
}

TEST_F(UsageAuditTest, EndThatNobodyReportedInABusyCgroup_IsChargedToo) {
  for (int scan = 0; scan < 5; ++scan) {
    if (scan == 2) RunShortLived(milliseconds(5));
    LoseSomething();
    Run(milliseconds(800));
    Scan();
  }
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
}

TEST_F(UsageAuditTest, LossThatIsKnownMuchLater_IsChargedThen) {
  Scan();
  RunShortLived(milliseconds(5));
  Scan(seconds(58));
  Scan();
  EXPECT_THAT(charged_, IsEmpty()) << "so far it may be any error of booking";
  EXPECT_EQ(audit_->status().last, kernel_.clock.Now() - seconds(1));
  LoseSomething();
  ScanTwice();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
}

TEST_F(UsageAuditTest, MissingForMinutesWithoutAnyLoss_WasGivenElsewhere) {
  for (int minute = 0; minute < 3; ++minute) {
    RunShortLived(milliseconds(5));
    Scan(seconds(58));
    Scan();
  }
  EXPECT_THAT(charged_, IsEmpty());
  LoseSomething();
  RunShortLived(milliseconds(2));
  ScanTwice();
  EXPECT_EQ(GivenInAll(), milliseconds(2 + 5)) << "only the latest could be part of the loss";
}

TEST_F(UsageAuditTest, CgroupOfThreads_MissesNothing) {
  cgroup_tree_.Write("cgroup/vcpu0/cgroup.type", "threaded\n");
  Use("/vcpu0", milliseconds(5));
  LoseSomething();
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty()) << "its process is known in another cgroup";
}

TEST_F(UsageAuditTest, ScansWhileSomethingIsLost_ReadNoMoreThanTheirShare) {
  LoseSomething();
  Scan();
  reading_takes_ = milliseconds(30);
  std::vector<BootTime> settled;
  for (int scan = 0; scan < 7; ++scan) {
    Scan();
    settled.push_back(audit_->status().last);
  }
  EXPECT_EQ(std::ranges::count(settled, settled.back()), 2) << "one in two: 1.5 s have to pass";
}

TEST_F(UsageAuditTest, ProcessWhoseCgroupIsReadAgain_GoesOnInItsAccount) {
  LoseSomething();
  // The directory forgets what nobody asks for, and makes it anew for a process that executes something.
  for (int scan = 0; scan < 3; ++scan) Scan(seconds(31));
  kernel_.table.AddExec(10, 6, "/bin/sh");
  LoseSomething();
  for (int scan = 0; scan < 3; ++scan) Scan(seconds(31));
  Run(milliseconds(40));
  LoseSomething();
  ScanTwice();
  EXPECT_EQ(given_, milliseconds(40));
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, DelayedRecord_IsNotMissing) {
  LoseSomething();
  const kepler_task record = RunShortLived(milliseconds(5));
  Scan();
  kernel_.table.AddFreed(record);
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5));
}

TEST_F(UsageAuditTest, LastSliceWithADelayedRecord_IsNotMissing) {
  LoseSomething();
  Run(milliseconds(5));
  const kepler_task record = kernel_.End(10);
  Scan();
  kernel_.table.AddFreed(record);
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5));
}

TEST_F(UsageAuditTest, ThreadWithADelayedRecord_IsNotMissing) {
  for (int scan = 0; scan < 5; ++scan) {
    const int tid = 20 + scan;
    Run(milliseconds(1));
    Use("/box", milliseconds(5));
    kernel_.Start({.tid = tid, .tgid = 10, .ran = 4'000'000, .cgroup = shell_cgroup_});
    kernel_.clock.Advance(milliseconds(1));
    const kepler_task record = kernel_.End(tid, /*more=*/1'000'000);
    LoseSomething();
    Scan();
    kernel_.table.AddFreed(record);
  }
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5 * 6));
}

TEST_F(UsageAuditTest, ThreadWithADelayedRecordOfAProcessThatEndsAfterThePass_IsNotMissing) {
  kernel_.Start({.tid = 30, .tgid = 30, .cgroup = shell_cgroup_});
  Use("/box", milliseconds(5));
  kernel_.Start({.tid = 31, .tgid = 30, .ran = 4'000'000, .cgroup = shell_cgroup_});
  kernel_.clock.Advance(milliseconds(1));
  const kepler_task thread = kernel_.End(31, /*more=*/1'000'000);
  LoseSomething();
  Scan();
  kernel_.table.AddFreed(thread);
  kernel_.table.AddFreed(kernel_.End(30));
  for (int scan = 0; scan < 3; ++scan) Scan();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5));
}

TEST_F(UsageAuditTest, ThreadWhoseRecordFollowsThatOfItsLeader_IsNotMissing) {
  kernel_.clock.Advance(milliseconds(1));
  Use("/box", milliseconds(5));
  kernel_.Start({.tid = 30, .tgid = 30, .cgroup = shell_cgroup_});
  kernel_.Start({.tid = 31, .tgid = 30, .ran = 4'000'000, .cgroup = shell_cgroup_});
  kernel_.clock.Advance(milliseconds(1));
  const kepler_task thread = kernel_.End(31, /*more=*/1'000'000);
  const kepler_task leader = kernel_.End(30);
  LoseSomething();
  Scan();
  kernel_.table.AddFreed(leader);
  kernel_.table.AddFreed(thread);
  for (int scan = 0; scan < 3; ++scan) Scan();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(given_, milliseconds(5));
}

TEST_F(UsageAuditTest, LossBesideDelayedThreads_IsChargedOnceTheirRecordsCame) {
  RunShortLived(milliseconds(3));
  Use("/box", milliseconds(5));
  kernel_.Start({.tid = 20, .tgid = 10, .ran = 5'000'000, .cgroup = shell_cgroup_});
  kernel_.clock.Advance(milliseconds(1));
  const kepler_task record = kernel_.End(20);
  LoseSomething();
  Scan();
  kernel_.table.AddFreed(record);
  for (int scan = 0; scan < 3; ++scan) Scan();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(3))));
}

TEST_F(UsageAuditTest, RecordThatComesAfterItsTimeWasCharged_IsNotGivenAgain) {
  LoseSomething();
  const kepler_task record = RunShortLived(milliseconds(5));
  ScanTwice();
  EXPECT_EQ(charged_["/box"], milliseconds(5));
  kernel_.table.AddFreed(record);
  RunShortLived(milliseconds(3), 51);
  Scan();
  EXPECT_EQ(given_.count(), 0);
  ASSERT_EQ(kernel_.sample.short_lived.size(), 1U);
  EXPECT_EQ(kernel_.sample.short_lived[0].cpu.count(), 0);
  Scan();
  EXPECT_EQ(GivenInAll(), milliseconds(8)) << "what is missing later is charged all the same";
}

TEST_F(UsageAuditTest, LastSliceThatComesAfterItsTimeWasCharged_IsNotGivenAgain) {
  LoseSomething();
  Run(milliseconds(5));
  const kepler_task record = kernel_.End(10);
  ScanTwice();
  kernel_.table.AddFreed(record);
  ScanTwice();
  EXPECT_EQ(GivenInAll(), milliseconds(5));
}

TEST_F(UsageAuditTest, ScansInQuickSuccession_WaitForTheRecords) {
  LoseSomething();
  const kepler_task record = RunShortLived(milliseconds(5));
  Scan(milliseconds(20));
  Scan(milliseconds(20));
  Scan(milliseconds(20));
  EXPECT_THAT(charged_, IsEmpty());
  kernel_.table.AddFreed(record);
  Scan(milliseconds(100));
  Scan(milliseconds(100));
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, TimeOfMicroseconds_WaitsUntilItIsWorthIt) {
  LoseSomething();
  RunShortLived(std::chrono::microseconds(60));
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty());
  RunShortLived(std::chrono::microseconds(60));
  ScanTwice();
  EXPECT_EQ(charged_["/box"], std::chrono::microseconds(120));
}

TEST_F(UsageAuditTest, PassThatFailed_ChargesNothing) {
  LoseSomething();
  Run(milliseconds(50));
  kernel_.clock.Advance(seconds(1));
  audit_->BeforePass(kernel_.table, kernel_.clock, losses_, status_);
  audit_->Abandon();
  ScanTwice();
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, CgroupThatIsGone_WhatWasMissingInItStaysItsOwnIfItWasRead) {
  LoseSomething();
  RunShortLived(milliseconds(5));
  Scan();
  kernel_.End(10);
  cgroup_tree_.Remove("cgroup/box");
  Scan();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(5))));
}

TEST_F(UsageAuditTest, CgroupThatIsGoneBeforeItWasRead_ItsMissingTimeIsItsParents) {
  LoseSomething();
  Scan();
  RunShortLived(milliseconds(5));
  kernel_.table.AddFreed(kernel_.End(10));
  cgroup_tree_.Remove("cgroup/box");
  ScanTwice();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/", milliseconds(5))));
}

TEST_F(UsageAuditTest, CgroupThatCameMeanwhile_CountsFromItsBeginning) {
  Use("/new", milliseconds(40));
  kernel_.cgroups.Made(0, IdOf("/new"), "/new");
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 33'000'000, .cgroup = IdOf("/new")});
  LoseSomething();
  ScanTwice();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/new", milliseconds(7))));
}

TEST_F(UsageAuditTest, HandOver_ReportsWhatWasSettled) {
  RunShortLived(milliseconds(5));
  LoseSomething();
  Scan();
  kernel_.clock.Advance(seconds(1));
  audit_->BeforePass(kernel_.table, kernel_.clock, losses_, status_);
  ActivitySample last;
  audit_->Charge(last);
  ASSERT_EQ(last.residuals.size(), 1U);
  EXPECT_EQ(last.residuals[0].cpu, milliseconds(5));
  EXPECT_EQ(audit_->status().charged, milliseconds(5));
}

TEST_F(UsageAuditTest, WorstRatio_IsWhatWasMissing) {
  LoseSomething();
  Run(milliseconds(1900));
  RunShortLived(milliseconds(100));
  Scan();
  EXPECT_EQ(audit_->status().comparisons, 0U);
  Scan();
  EXPECT_EQ(audit_->status().comparisons, 1U);
  EXPECT_NEAR(audit_->status().worst_ratio, 0.05, 1e-6);
  EXPECT_EQ(audit_->status().charged, milliseconds(100));
  for (int minute = 0; minute < 3; ++minute) {
    LoseSomething();
    Run(seconds(2));
    Scan(seconds(61));
    Scan();
    if (minute == 0) {
      EXPECT_NEAR(audit_->status().worst_ratio, 0.05, 1e-6);
    }
  }
  EXPECT_NEAR(audit_->status().worst_ratio, 0, 1e-6) << "it is of the last two minutes";
}

TEST_F(UsageAuditTest, NoTree_NothingHappens) {
  UsageAudit audit({}, {});
  EXPECT_FALSE(audit.possible());
  audit.BeforePass(kernel_.table, kernel_.clock, 1, status_);
  audit.Book(kernel_.sample, kernel_.cgroups, kernel_.table);
  EXPECT_THAT(kernel_.sample.residuals, IsEmpty());
  EXPECT_EQ(audit.status().last, BootTime{});
}

}  // namespace
}  // namespace kepler::activity::bpf
