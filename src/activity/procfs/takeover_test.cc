// ProcfsSource goes on where another source has failed permanently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "activity/fallback_source.h"
#include "activity/procfs/fake_machine.h"
#include "base/log.h"
#include "cgroup/owner_test_util.h"

namespace kepler::activity::procfs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr uint32_t kFirstOfTheLedger = 1U << 31;  // numbers of bpf's residuals (ActivitySample::renumbered)

/// Sees what the test says, until it fails.
class FailingSource final : public ActivitySource {
 public:
  Status Sample(ActivitySample& out) override {
    ++scans;
    out.Clear();
    if (error) return std::unexpected(*error);
    return {};
  }
  Handover HandOver(ActivitySample& last) override {
    last = last_words;
    return handover;
  }
  [[nodiscard]] int WakeFd() const override { return 7; }
  void Drain() override { ++drains; }
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override { return {}; }
  [[nodiscard]] const status::ActivityStatus& status() const override { return current; }

  std::optional<Error> error;
  Handover handover;
  ActivitySample last_words;
  status::ActivityStatus current{.name = "bpf"};
  int scans = 0;
  int drains = 0;
};

/// Calls `at_second` when it is asked for the time for the second time: after the scan has begun, before the processes.
class ClockOfAPass final : public Clock {
 public:
  ClockOfAPass(const Clock& clock, std::function<void()> at_second) : clock_(clock), at_second_(std::move(at_second)) {}
  [[nodiscard]] BootTime Now() const override {
    if (++asked_ == 2) at_second_();
    return clock_.Now();
  }
  [[nodiscard]] WallTime Wall() const override { return clock_.Wall(); }

 private:
  const Clock& clock_;
  std::function<void()> at_second_;
  mutable int asked_ = 0;
};

class Takeover : public ::testing::Test {
 protected:
  Takeover() {
    machine_.PutKernelThread();
    machine_.SetMachineBusy(0);
    auto primary = std::make_unique<FailingSource>();
    primary_ = primary.get();
    source_ = std::make_unique<FallbackSource>(
        std::move(primary),
        [this](const Handover& before) {
          auto options = machine_.MakeOptions();
          options.before = before;
          return std::make_unique<ProcfsSource>(options, clock_);
        },
        machine_.clock);
  }
  Status Scan(Nanoseconds after = 5s) {
    machine_.clock.Advance(after);
    return source_->Sample(machine_.sample);
  }
  void Fail(ErrorKind kind) { primary_->error = Error{kind, "open BPF iterator over tasks: refused"}; }
  /// The primary has seen these at a good scan, and fails for good.
  void FailAfter(std::vector<Handover::Process> known) {
    EXPECT_TRUE(Scan());
    primary_->handover = {machine_.clock.Now(), std::move(known)};
    Fail(ErrorKind::kPermission);
  }
  [[nodiscard]] std::map<Slot, Slot> Moved() const {
    std::map<Slot, Slot> moved;
    for (const MovedProcess& process : machine_.sample.moved) moved[process.from] = process.to;
    return moved;
  }

  FakeMachine machine_;
  std::function<void()> meanwhile_ = [] {};
  ClockOfAPass clock_{machine_.clock, [this] { meanwhile_(); }};
  FailingSource* primary_ = nullptr;
  std::unique_ptr<FallbackSource> source_;
};

TEST_F(Takeover, FailuresThatPass_AreErrorsOfThoseScansOnly) {
  Fail(ErrorKind::kIo);
  for (int scan = 0; scan < 2; ++scan) EXPECT_FALSE(Scan(1min));
  primary_->error.reset();
  EXPECT_TRUE(Scan());
  Fail(ErrorKind::kIo);
  for (int scan = 0; scan < 2; ++scan) EXPECT_FALSE(Scan(1min)) << "counted from the start again";
  EXPECT_EQ(source_->status().name, "bpf");
  EXPECT_EQ(source_->WakeFd(), 7);
}

TEST_F(Takeover, ManyFailuresWithinAMoment_AreNotForGood) {
  Fail(ErrorKind::kIo);
  for (int scan = 0; scan < 100; ++scan) EXPECT_FALSE(Scan(10ms));
  EXPECT_EQ(source_->status().name, "bpf");
}

TEST_F(Takeover, FailuresInARowForSeconds_ProcfsTakesOverAndNothingGoesBack) {
  Fail(ErrorKind::kIo);
  for (int scan = 0; scan < 2; ++scan) EXPECT_FALSE(Scan());
  EXPECT_TRUE(Scan());
  EXPECT_EQ(source_->status().name, "procfs");
  EXPECT_EQ(source_->WakeFd(), -1);
  EXPECT_THAT(machine_.sample.processes, SizeIs(1));
  EXPECT_TRUE(machine_.sample.renumbered);
  EXPECT_TRUE(source_->status().up);
  EXPECT_TRUE(Scan());
  EXPECT_FALSE(machine_.sample.renumbered);
  EXPECT_EQ(source_->status().name, "procfs");
}

TEST_F(Takeover, RightThatIsGone_IsForGoodAtOnceAndSaidOnce) {
  FailAfter({});
  ASSERT_TRUE(log::Flush(10s)) << "a slow terminal still waits for the lines of the tests before";
  ::testing::internal::CaptureStdout();
  for (int scan = 0; scan < 3; ++scan) EXPECT_TRUE(Scan());
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(log, HasSubstr("level=ERROR"));
  EXPECT_EQ(log.find("failed permanently"), log.rfind("failed permanently"));
  for (const char* part : {"failed=bpf", "activity=procfs", "refused", "by their cgroup only", "restart the agent"})
    EXPECT_THAT(log, HasSubstr(part));
}

TEST_F(Takeover, TimeBetweenTheTwo_IsGivenOnceToWhoRan) {
  machine_.Put({.pid = 10, .ticks = 150});
  machine_.Put({.pid = 11, .ticks = 40});
  machine_.Put({.pid = 12, .ticks = 900});
  machine_.Put({.pid = 13, .ticks = 5});
  FailAfter({{{13, 77}, 4, Ticks(3)}, {{11, 1000}, 5, Ticks(40)}, {{10, 1000}, 8, Ticks(100)}, {{2, 1}, 1, {}}});
  machine_.Put({.pid = 14, .ticks = 7, .start = machine_.NowTicks() + 100});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 50);
  EXPECT_EQ(machine_.TicksOf(11), 0);
  EXPECT_EQ(machine_.TicksOf(12), 0) << "nobody had seen it, and it is older";
  EXPECT_EQ(machine_.TicksOf(13), 0) << "another process of that pid";
  EXPECT_EQ(machine_.TicksOf(14), 7) << "born since";
  EXPECT_EQ(Moved(), (std::map<Slot, Slot>{
                         {1, machine_.Find(2)->slot}, {5, machine_.Find(11)->slot}, {8, machine_.Find(10)->slot}}));
  machine_.Put({.pid = 10, .ticks = 160});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 10);
  EXPECT_THAT(machine_.sample.moved, IsEmpty());
}

TEST_F(Takeover, ClockBehindWhatWasGiven_CountsFromThereOn) {
  machine_.Put({.pid = 10, .ticks = 99});
  FailAfter({{{10, 1000}, 0, Ticks(100)}});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 0);
  machine_.Put({.pid = 10, .ticks = 103});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 3);
}

/// What was used between the two is not in the usage of the cgroup, which begins with the new source: it is no debt.
TEST_F(Takeover, ResidualsAfterIt_AreWhole) {
  machine_.SetV2("", 0s);
  machine_.SetV2("/box", 60s);
  machine_.Put({.pid = 10, .ticks = 500, .cgroup = "0::/box\n"});
  FailAfter({{{10, 1000}, 0, Ticks(100)}});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 400);
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  machine_.SetV2("/box", 60s + Ticks(30));
  machine_.Put({.pid = 10, .ticks = 510, .cgroup = "0::/box\n"});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.Residuals(), (std::map<std::string, Nanoseconds>{{"/box", Ticks(20)}}));
}

TEST_F(Takeover, ProcessThatRunsDuringTheFirstScan_IsGivenThatTimeOnce) {
  machine_.SetV2("", 0s);
  machine_.SetV2("/box", 60s);
  machine_.Put({.pid = 10, .ticks = 500, .cgroup = "0::/box\n"});
  meanwhile_ = [this] {
    machine_.SetV2("/box", 60s + Ticks(3));
    machine_.Put({.pid = 10, .ticks = 503, .cgroup = "0::/box\n"});
  };
  FailAfter({{{10, 1000}, 0, Ticks(100)}});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 403);
  EXPECT_EQ(source_->status().audit.charged, 0ns) << "no residual was given";
  machine_.SetV2("/box", 60s + Ticks(10));
  machine_.Put({.pid = 10, .ticks = 510, .cgroup = "0::/box\n"});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 7);
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
}

TEST_F(Takeover, FirstScanThatFails_GivesNoTimeTwice) {
  machine_.SetV2("", 0s);
  machine_.SetV2("/box", 60s);
  FailAfter({{{10, 1000}, 0, Ticks(100)}});
  machine_.tree.Remove("proc/2");
  EXPECT_FALSE(Scan()) << "no process is listed";
  machine_.PutKernelThread();
  machine_.SetV2("/box", 60s + Ticks(30));
  machine_.Put({.pid = 10, .ticks = 130, .cgroup = "0::/box\n"});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 30);
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  machine_.SetV2("/box", 60s + Ticks(70));
  machine_.Put({.pid = 10, .ticks = 150, .cgroup = "0::/box\n"});
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.Residuals(), (std::map<std::string, Nanoseconds>{{"/box", Ticks(20)}}));
}

TEST_F(Takeover, LastWordsOfThePrimary_AreInTheFirstGoodSampleOnly) {
  const cgroup::Membership box({{0, "", "/box"}}, cgroup::OwnerOfPath("/box"));
  primary_->last_words.exited.push_back({.slot = 3, .cpu = 4ms});
  primary_->last_words.short_lived.push_back({.key = {99, 1}, .comm = "true", .exe = "/bin/true", .cgroups = &box});
  primary_->last_words.residuals.push_back({.cgroup = cgroup::CgroupAt("/box"), .cpu = 6ms});
  primary_->last_words.lost = 5ms;
  machine_.tree.Remove("proc");
  FailAfter({});
  EXPECT_FALSE(Scan());
  EXPECT_EQ(source_->status().name, "procfs");
  EXPECT_FALSE(source_->status().up);
  machine_.PutKernelThread();
  ASSERT_TRUE(Scan());
  ASSERT_THAT(machine_.sample.exited, SizeIs(1));
  EXPECT_EQ(machine_.sample.exited[0].slot, 3U);
  ASSERT_THAT(machine_.sample.short_lived, SizeIs(1));
  EXPECT_EQ(machine_.sample.short_lived[0].comm, "true");
  EXPECT_EQ(machine_.Residuals(), (std::map<std::string, Nanoseconds>{{"/box", 6ms}}));
  EXPECT_EQ(machine_.sample.lost, 5ms);
  ASSERT_TRUE(Scan());
  EXPECT_THAT(machine_.sample.exited, IsEmpty());
  EXPECT_THAT(machine_.sample.short_lived, IsEmpty());
  EXPECT_THAT(machine_.Residuals(), IsEmpty());
  EXPECT_EQ(machine_.sample.lost, 0ms);
}

TEST_F(Takeover, PrimaryThatNeverSaw_LeavesTheBaselineToTheNext) {
  machine_.Put({.pid = 10, .ticks = 100, .start = machine_.NowTicks() + 100});
  Fail(ErrorKind::kPermission);
  ASSERT_TRUE(Scan());
  EXPECT_EQ(machine_.TicksOf(10), 0);
}

TEST_F(Takeover, Totals_GoOnFromThoseOfThePrimary) {
  primary_->current.records = {{"task", 10, 2}};
  primary_->current.failed_reads = 3;
  primary_->current.lost = 4ms;
  primary_->current.iterator_time = 5ms;
  primary_->current.program_time = 6ms;
  primary_->current.program_runs = 7;
  primary_->current.failed_cgroup_reads = 8;
  primary_->current.vanished = 9;
  primary_->current.audit = {.comparisons = 1'000, .charged = 11ms};
  FailAfter({});
  for (int scan = 0; scan < 2; ++scan) {
    ASSERT_TRUE(Scan());
    const status::ActivityStatus& status = source_->status();
    ASSERT_THAT(status.records, SizeIs(1));
    EXPECT_EQ(status.records[0].taken, 10U);
    EXPECT_GE(status.failed_reads, 3U);
    EXPECT_EQ(status.lost, 4ms);
    EXPECT_EQ(status.iterator_time, 5ms);
    EXPECT_EQ(status.program_time, 6ms);
    EXPECT_EQ(status.program_runs, 7U);
    EXPECT_GE(status.failed_cgroup_reads, 8U);
    EXPECT_EQ(status.vanished, 9U);
    EXPECT_GE(status.audit.comparisons, 1'000U);
    EXPECT_EQ(status.audit.charged, 11ms);
  }
}

}  // namespace
}  // namespace kepler::activity::procfs
