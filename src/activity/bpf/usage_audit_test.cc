#include "activity/bpf/usage_audit.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <vector>

#include "activity/bpf/fake_kernel_test_util.h"

namespace kepler::activity::bpf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// Time passes while it is looked at.
class SlowClock final : public Clock {
 public:
  SlowClock(const Clock& clock, Nanoseconds step) : clock_(clock), step_(step) {}
  [[nodiscard]] BootTime Now() const override { return clock_.Now() + step_ * looks_++; }
  [[nodiscard]] WallTime Wall() const override { return clock_.Wall(); }

 private:
  const Clock& clock_;
  Nanoseconds step_;
  mutable int looks_ = 0;
};

/// A kernel whose cgroups count what runs in them, and a source that loses what the test likes.
class UsageAuditTest : public ::testing::Test {
 protected:
  UsageAuditTest() {
    kernel_.tree.MakeDir("proc");
    Use("", Nanoseconds{0});
    Use("/box", seconds(100));
    Use("/other", seconds(7));
    audit_.emplace(trees_, os::CgroupMembership{}, nullptr);
    kernel_.Start({.tid = 1, .tgid = 1, .ran = 1000, .start = 5, .cgroup = IdOf("")});
    shell_cgroup_ = IdOf("/box");
    kernel_.Start({.tid = 10, .tgid = 10, .start = 6, .cgroup = shell_cgroup_});
    Look();
  }

  /// The cgroup used `time` more, and so did its parents.
  void Use(const std::string& path, Nanoseconds time) {
    for (std::string at = path;; at = at.substr(0, at.rfind('/'))) {
      usage_[at] += time;
      cgroup_tree_.Write("cgroup" + at + "/cpu.stat", fmt::format("usage_usec {}\n", usage_[at].count() / 1000));
      cgroup_tree_.Write("cgroup" + at + "/cgroup.events", "populated 1\n");
      if (at.empty()) return;
    }
  }
  uint64_t IdOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(cgroup_tree_.Path("cgroup" + path).c_str(), &status), 0);
    return status.st_ino;
  }
  /// A process of /box comes, runs so long and goes; its record.
  kepler_task RunBrief(Nanoseconds time, int pid = 50) {
    Use("/box", time);
    kernel_.Start({.tid = pid, .tgid = pid, .ran = static_cast<uint64_t>(time.count()), .cgroup = IdOf("/box")});
    kernel_.clock.Advance(milliseconds(1));
    return kernel_.End(pid);
  }
  /// The shell of /box runs on.
  void Run(Nanoseconds time) {
    Use("/box", time);
    kernel_.living.at(10).ran += static_cast<uint64_t>(time.count());
  }
  void Look(Nanoseconds after = seconds(1)) {
    kernel_.clock.Advance(after);
    kernel_.sample = {};
    kernel_.cgroups.BeginLook(kernel_.clock.Now(), kernel_.sample.gone_cgroups, kernel_.sample.gone_memberships);
    audit_->BeforePass(kernel_.table, SlowClock(kernel_.clock, reading_takes_), losses_, health_,
                       kernel_.sample.gone_cgroups);
    kernel_.table.BeginPass(kernel_.clock.Now());
    for (const auto& [tid, thread] : kernel_.living) kernel_.Show(thread);
    kernel_.EndLook();
    audit_->Book(kernel_.sample, kernel_.cgroups, kernel_.table);
    for (const auto& residual : kernel_.sample.residuals) charged_[std::string(residual.cgroup_path)] += residual.cpu;
    given_ += Nanoseconds(static_cast<int64_t>(kernel_.Given()));
  }
  /// To all and as residuals, since the first look.
  [[nodiscard]] Nanoseconds GivenInAll() const {
    Nanoseconds sum = given_;
    for (const auto& [path, time] : charged_) sum += time;
    return sum;
  }
  void LoseSomething() { ++losses_; }

  testing::FakeTree cgroup_tree_;
  os::CgroupTrees trees_{.cpuacct = std::nullopt,
                         .unified = os::CgroupTree{os::CgroupVersion::kUnified, cgroup_tree_.Path("cgroup")}};
  FakeKernel kernel_{trees_};
  std::optional<UsageAudit> audit_;
  ActivityHealth health_;
  uint64_t shell_cgroup_ = 0;
  uint64_t losses_ = 0;
  Nanoseconds reading_takes_{0};
  std::map<std::string, Nanoseconds> usage_;
  std::map<std::string, Nanoseconds> charged_;
  Nanoseconds given_{0};
};

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
  EXPECT_EQ(audit_->figures().last, kernel_.clock.Now() - seconds(1));
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
    settled.push_back(audit_->figures().last);
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
  audit_->BeforePass(kernel_.table, kernel_.clock, losses_, health_, kernel_.sample.gone_cgroups);
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

TEST_F(UsageAuditTest, WhatANewProcessRanBeforeItWasMoved_HidesNothingThatIsMissing) {
  LoseSomething();
  // Forked by a process of the root, 4 ms there; then 10 ms in the box.
  Use("", milliseconds(4));
  Use("/box", milliseconds(10));
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 14'000'000, .cgroup = IdOf("/box")});
  kernel_.table.AddMove(50, kernel_.living.at(50).start, {4'000'000, 0});
  Look();
  EXPECT_EQ(kernel_.CpuOf(50), 14'000'000) << "it is the process' all the same";
  Look();
  EXPECT_THAT(charged_, IsEmpty());
  RunBrief(milliseconds(3), 51);
  Look();
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(3))));
}

TEST_F(UsageAuditTest, WhatAShortLivedProcessRanBeforeItWasMoved_HidesNothingEither) {
  LoseSomething();
  Use("", milliseconds(4));
  kernel_.clock.Advance(milliseconds(1));
  kernel_.table.AddMove(50, kernel_.Now(), {4'000'000, 0});
  kepler_task record = RunBrief(milliseconds(10));
  record.ran += 4'000'000;
  record.group_ran_dead += 4'000'000;
  kernel_.table.AddFreed(record);
  RunBrief(milliseconds(3), 51);
  Look();
  EXPECT_EQ(given_, milliseconds(14));
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(3))));
}

TEST_F(UsageAuditTest, KnownProcessThatIsMoved_ItsTimeIsInBothCgroups) {
  LoseSomething();
  Run(milliseconds(6));
  const uint64_t ran = kernel_.living.at(10).ran;
  kernel_.table.AddMove(10, 6, {ran, 0});
  kernel_.living.at(10).cgroup = IdOf("/other");
  kernel_.living.at(10).ran += 2'000'000;
  Use("/other", milliseconds(2));
  RunBrief(milliseconds(3), 51);
  Look();
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(3))));
}

TEST_F(UsageAuditTest, WhatANewProcessRanBeforeItWasMoved_IsInTheCgroupOfItsParent) {
  LoseSomething();
  Use("/other", milliseconds(4));
  Use("/box", milliseconds(10));
  kernel_.Start({.tid = 50, .tgid = 50, .ran = 14'000'000, .cgroup = IdOf("/box")});
  kernel_.table.AddMove(50, kernel_.living.at(50).start, {4'000'000, IdOf("/other")});
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty());
  EXPECT_EQ(GivenInAll(), milliseconds(14));
}

TEST_F(UsageAuditTest, ProcessOfThreadsThatIsMoved_IsMissingNowhere) {
  kernel_.Start({.tid = 11, .tgid = 10, .cgroup = IdOf("/box")});
  kernel_.living.at(11).ran = 50'000'000;
  Use("/box", milliseconds(50));
  Look();
  LoseSomething();
  kernel_.living.at(11).ran += 9'000'000;
  Use("/box", milliseconds(5));
  Use("/other", milliseconds(4));
  kernel_.table.AddMove(10, 6, {1000, 0});  // of its leader
  for (const int tid : {10, 11}) kernel_.living.at(tid).cgroup = IdOf("/other");
  Look();
  Look();
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, CgroupMadeAnewUnderItsPath_IsAnother) {
  LoseSomething();
  Look();
  // It runs on, ends, and its successor runs before anybody reads a usage.
  Run(milliseconds(20));
  kernel_.table.AddFreed(kernel_.End(10));
  cgroup_tree_.Remove("cgroup/box");
  kernel_.cgroups.Removed(0, shell_cgroup_);
  usage_["/box"] = {};
  Use("/box", milliseconds(30));
  ASSERT_NE(IdOf("/box"), shell_cgroup_);
  kernel_.cgroups.Made(0, IdOf("/box"), "/box");
  kernel_.Start({.tid = 60, .tgid = 60, .ran = 30'000'000, .cgroup = IdOf("/box")});
  for (int look = 0; look < 4; ++look) {
    LoseSomething();
    Look();
  }
  EXPECT_THAT(charged_, IsEmpty());
  RunBrief(milliseconds(3), 61);
  Look();
  Look();
  EXPECT_THAT(charged_, UnorderedElementsAre(Pair("/box", milliseconds(3))));
  EXPECT_EQ(GivenInAll(), milliseconds(53));
}

TEST_F(UsageAuditTest, CgroupsMadeAnewUnderTheirPaths_KeepWhatIsKnownOfThem) {
  Use("/box/inner", milliseconds(1));
  LoseSomething();
  Look();
  Look();
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
  for (int look = 0; look < 4; ++look) {
    LoseSomething();
    Look();
  }
  EXPECT_THAT(charged_, IsEmpty());
}

TEST_F(UsageAuditTest, MoveThatAPassShowedFirst_IsBookedOnce) {
  LoseSomething();
  kernel_.living.at(10).cgroup = IdOf("/other");
  Run(milliseconds(6));
  Look();
  charged_.clear();
  kernel_.table.AddMove(10, 6, {5'000'000, 0});
  kernel_.living.at(10).ran += 9'000'000;
  Use("/other", milliseconds(9));
  Look();
  RunBrief(milliseconds(3));
  Look();
  Look();
  Use("/other", milliseconds(10));
  Look();
  Look();
  EXPECT_EQ(charged_["/other"], milliseconds(4)) << "6 ms were given before anybody could know, 9 ms only once";
}

TEST_F(UsageAuditTest, HandOver_TellsWhatWasSettled) {
  RunBrief(milliseconds(5));
  LoseSomething();
  Look();
  kernel_.clock.Advance(seconds(1));
  audit_->BeforePass(kernel_.table, kernel_.clock, losses_, health_, kernel_.sample.gone_cgroups);
  ActivitySample last;
  audit_->HandOver(last);
  ASSERT_EQ(last.residuals.size(), 1U);
  EXPECT_EQ(last.residuals[0].cpu, milliseconds(5));
  EXPECT_EQ(audit_->figures().charged, milliseconds(5));
}

TEST_F(UsageAuditTest, WorstRatio_IsWhatWasMissing) {
  LoseSomething();
  Run(milliseconds(1900));
  RunBrief(milliseconds(100));
  Look();
  EXPECT_EQ(audit_->figures().comparisons, 0U);
  Look();
  EXPECT_EQ(audit_->figures().comparisons, 1U);
  EXPECT_NEAR(audit_->figures().worst_ratio, 0.05, 1e-6);
  EXPECT_EQ(audit_->figures().charged, milliseconds(100));
  for (int minute = 0; minute < 3; ++minute) {
    LoseSomething();
    Run(seconds(2));
    Look(seconds(61));
    Look();
  }
  EXPECT_NEAR(audit_->figures().worst_ratio, 0, 1e-6) << "it is of the last two minutes";
}

TEST_F(UsageAuditTest, NoTree_NothingHappens) {
  UsageAudit audit({}, {}, nullptr);
  EXPECT_FALSE(audit.possible());
  audit.BeforePass(kernel_.table, kernel_.clock, 1, health_, kernel_.sample.gone_cgroups);
  audit.Book(kernel_.sample, kernel_.cgroups, kernel_.table);
  EXPECT_THAT(kernel_.sample.residuals, IsEmpty());
  EXPECT_EQ(audit.figures().last, BootTime{});
}

}  // namespace
}  // namespace kepler::activity::bpf
