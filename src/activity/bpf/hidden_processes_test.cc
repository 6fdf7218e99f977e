#include "activity/bpf/hidden_processes.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "activity/bpf/fake_kernel_test_util.h"
#include "activity/bpf/task_labels.h"
#include "activity/live_test_util.h"

namespace kepler::activity::bpf {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kTick = 10'000'000;  // ns of a clock tick

/// A kernel whose /proc shows some processes that its iterator does not. Without <procfs>/self CPU time is in ticks.
class HiddenProcessesTest : public ::testing::Test {
 protected:
  HiddenProcessesTest() {
    kernel_.Start({.tid = 1, .tgid = 1, .ran = 1000, .start = 5, .comm = "seen"});
    WriteStat(1, "seen", 0, 0);
  }
  void WriteStat(int pid, const std::string& comm, uint64_t ticks, uint64_t start_ticks) {
    kernel_.tree.Write(
        fmt::format("proc/{}/stat", pid),
        fmt::format("{} ({}) S 1 0 0 0 -1 0 0 0 0 0 {} 0 0 0 20 0 1 0 {} 0 0\n", pid, comm, ticks, start_ticks));
    kernel_.tree.Write(fmt::format("proc/{}/status", pid), "Uid:\t1000\t0\t0\t0\n");
  }
  ActivitySample& Scan(Nanoseconds after = HiddenProcesses::kPeriod) {
    kernel_.clock.Advance(after);
    kernel_.sample = {};
    return ScanWith(hidden_);
  }
  ActivitySample& ScanWith(HiddenProcesses& hidden) {
    hidden.BeforePass(kernel_.clock.Now());
    kernel_.BeginScan(Nanoseconds{0});
    for (const auto& [tid, thread] : kernel_.living) kernel_.Show(thread);
    hidden.AfterPass(kernel_.table);
    return kernel_.EndScan();
  }
  [[nodiscard]] int64_t TicksOf(int pid) const {
    const auto* const process = kernel_.Find(pid);
    return process == nullptr ? -1 : process->cpu.count() / static_cast<int64_t>(kTick);
  }

  FakeKernel kernel_;
  HiddenProcesses hidden_{kernel_.tree.Path("proc"), {}, /*with_uids=*/true};
};

TEST_F(HiddenProcessesTest, WhoIsInProcOnly_HasASeriesAndItsTimeFromNowOn) {
  WriteStat(7, "hidden", 300, 10);
  Scan();
  EXPECT_EQ(TicksOf(7), 0) << "what it used before the agent looked belongs to nobody";
  EXPECT_EQ(kernel_.Find(7)->info->comm, "hidden");
  EXPECT_EQ(kernel_.Find(7)->info->key, (ProcessKey{7, 10}));
  EXPECT_EQ(kernel_.Find(7)->info->uid, 1000U);
  WriteStat(7, "hidden", 342, 10);
  Scan(std::chrono::seconds(5));
  EXPECT_EQ(TicksOf(7), 42);
  EXPECT_THAT(kernel_.sample.processes, SizeIs(2));
  EXPECT_EQ(hidden_.size(), 1U);
  EXPECT_EQ(hidden_.failed(), 0U);
}

TEST_F(HiddenProcessesTest, OneThatComesLater_IsFoundWithinAMinute) {
  Scan();
  const uint64_t start = kernel_.Now() / kTick + 1;
  kernel_.clock.Advance(std::chrono::seconds(1));
  WriteStat(8, "late", 5, start);
  Scan(std::chrono::seconds(50));
  EXPECT_EQ(kernel_.Find(8), nullptr) << "not due";
  Scan(std::chrono::seconds(10));
  EXPECT_EQ(TicksOf(8), 0) << "what it used so far is in its cgroup's residual";
  WriteStat(8, "late", 7, start);
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(TicksOf(8), 2);
}

TEST_F(HiddenProcessesTest, OneThatStartedAfterTheListing_IsNotTakenForHidden) {
  WriteStat(9, "new", 1, (kernel_.Now() + 60'000'000'000) / kTick);
  Scan();
  EXPECT_EQ(kernel_.Find(9), nullptr);
}

TEST_F(HiddenProcessesTest, NameIsReadAgainWithTheListing) {
  WriteStat(7, "before", 1, 10);
  Scan();
  WriteStat(7, "after", 1, 10);
  Scan();
  EXPECT_EQ(kernel_.Find(7)->info->comm, "after");
}

TEST_F(HiddenProcessesTest, ItsEnd_IsReportedAtOnce) {
  WriteStat(7, "hidden", 300, 10);
  Scan();
  const Slot slot = kernel_.Find(7)->slot;
  kernel_.tree.Remove("proc/7");
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.Find(7), nullptr);
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.sample.exited[0].slot, slot);
  EXPECT_EQ(kernel_.sample.exited[0].cpu.count(), 0);
  EXPECT_EQ(hidden_.size(), 0U);
}

TEST_F(HiddenProcessesTest, RecordOfItsEnd_CountsItsLastSliceOnly) {
  WriteStat(7, "hidden", 300, 10);
  Scan();
  kernel_.tree.Remove("proc/7");
  Scan(std::chrono::seconds(1));
  const FakeThread leader{.tid = 7, .tgid = 7, .ran = 303 * kTick, .start = 10 * kTick + 1234, .group = 99};
  kernel_.table.AddFreed(TaskOf(leader, leader.start, leader.ran));
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.Given(), 3 * kTick);
}

TEST_F(HiddenProcessesTest, RecordBeforeAnybodyNoticed_CountsItsLastSliceOnly) {
  WriteStat(7, "hidden", 300, 10);
  Scan();
  kernel_.tree.Remove("proc/7");
  const FakeThread leader{.tid = 7, .tgid = 7, .ran = 303 * kTick, .start = 10 * kTick + 1234, .group = 99};
  kernel_.table.AddFreed(TaskOf(leader, leader.start, leader.ran));
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.Given(), 3 * kTick);
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_THAT(kernel_.sample.short_lived, IsEmpty());
}

TEST_F(HiddenProcessesTest, ShownLater_GoesOnAsTheSameProcess) {
  WriteStat(7, "hidden", 300, 10);
  Scan();
  const Slot slot = kernel_.Find(7)->slot;
  kernel_.Start({.tid = 7, .tgid = 7, .ran = 302 * kTick + 5, .start = 10 * kTick + 1234, .comm = "hidden"});
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.CpuOf(7), 2 * kTick + 5);
  EXPECT_EQ(kernel_.Find(7)->slot, slot);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
  EXPECT_EQ(hidden_.size(), 0U);
  kernel_.living[7].ran += 11;
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(kernel_.CpuOf(7), 11);
}

TEST_F(HiddenProcessesTest, OneThatWasShownBefore_IsCountedOnce) {
  const uint64_t start = kernel_.Now() + 1'000'000'000;
  Scan(std::chrono::seconds(1));
  kernel_.Start({.tid = 7, .tgid = 7, .ran = 100 * kTick, .start = start, .comm = "shown"});
  kernel_.Start({.tid = 8, .tgid = 7, .ran = 20 * kTick, .comm = "shown"});
  Scan(std::chrono::seconds(1));
  EXPECT_EQ(TicksOf(7), 120);
  kernel_.table.AddFreed(kernel_.End(8));
  kernel_.living.erase(7);
  WriteStat(7, "shown", 125, start / kTick);
  Scan();
  EXPECT_EQ(TicksOf(7), 5);
  EXPECT_THAT(kernel_.sample.exited, IsEmpty());
}

TEST_F(HiddenProcessesTest, AnotherProcessOfThatPid_InheritsNothing) {
  WriteStat(7, "first", 300, 10);
  Scan();
  const uint64_t start = kernel_.Now() / kTick + 100;
  kernel_.clock.Advance(std::chrono::seconds(5));
  WriteStat(7, "second", 400, start);
  Scan();
  ASSERT_THAT(kernel_.sample.exited, SizeIs(1));
  EXPECT_EQ(kernel_.Given(), 0U);
  Scan();
  ASSERT_NE(kernel_.Find(7), nullptr);
  EXPECT_EQ(kernel_.Find(7)->info->comm, "second");
}

TEST_F(HiddenProcessesTest, ItsCgroup_IsThatOfProc) {
  kernel_.tree.MakeDir("cpuacct/box");
  HiddenProcesses hidden(
      kernel_.tree.Path("proc"),
      {.cpuacct = cgroup::Tree{cgroup::Version::kCpuacct, kernel_.tree.Path("cpuacct")}, .unified = std::nullopt});
  WriteStat(7, "hidden", 1, 10);
  kernel_.tree.Write("proc/7/cgroup", "3:cpu,cpuacct:/box\n0::/\n");
  kernel_.tree.Write("proc/7/exe", "");
  ScanWith(hidden);
  ASSERT_NE(kernel_.Find(7), nullptr);
  EXPECT_EQ(kernel_.Find(7)->info->cgroup->lines,
            (std::vector<os::CgroupLine>{{3, "cpu,cpuacct", "/box"}, {0, "", "/"}}));
}

TEST_F(HiddenProcessesTest, WithoutUsers_StatusIsNotRead) {
  HiddenProcesses hidden(kernel_.tree.Path("proc"), {});
  WriteStat(7, "hidden", 1, 10);
  kernel_.tree.Remove("proc/7/status");
  ScanWith(hidden);
  ASSERT_NE(kernel_.Find(7), nullptr);
  EXPECT_EQ(kernel_.Find(7)->info->uid, kUnknownUid);
  EXPECT_EQ(hidden.failed(), 0U);
}

TEST_F(HiddenProcessesTest, ProcThatCannotBeListed_IsCountedAndFoundAgain) {
  HiddenProcesses hidden(kernel_.tree.Path("mounted-later"), {});
  hidden.BeforePass(kernel_.clock.Now());
  EXPECT_EQ(hidden.failed(), 1U);
  kernel_.tree.Write("mounted-later/7/status", "Uid:\t0\t0\t0\t0\n");
  kernel_.tree.Write("mounted-later/7/stat", "7 (hidden) S 1 0 0 0 -1 0 0 0 0 0 1 0 0 0 20 0 1 0 10 0 0\n");
  kernel_.clock.Advance(HiddenProcesses::kPeriod);
  hidden.BeforePass(kernel_.clock.Now());
  kernel_.BeginScan(Nanoseconds{0});
  hidden.AfterPass(kernel_.table);
  EXPECT_EQ(hidden.size(), 1U);
}

TEST_F(HiddenProcessesTest, MalformedStat_IsCountedAndNobodysTime) {
  kernel_.tree.Write("proc/7/stat", "7 (cut");
  Scan();
  EXPECT_EQ(kernel_.Find(7), nullptr);
  EXPECT_EQ(hidden_.failed(), 1U);
}

TEST_F(HiddenProcessesTest, StatThatCannotBeReadForOnce_EndsNobody) {
  WriteStat(7, "hidden", 300, 10);
  Scan();
  EXPECT_EQ(hidden_.found(), 1U);
  kernel_.tree.Write("proc/7/stat", "7 (cut");
  Scan();
  EXPECT_EQ(hidden_.size(), 1U);
  EXPECT_EQ(hidden_.failed(), 1U);
  WriteStat(7, "hidden", 350, 10);
  Scan();
  EXPECT_EQ(TicksOf(7), 50);
}

/// By the CPU clock, on the kernel that runs the tests: all of its processes are hidden from a table that is shown
/// none.
TEST(HiddenProcessesLive, ChildIsReadToTheNanosecond) {
  const SystemClock clock;
  CgroupDirectory cgroups{{}, {}};
  ProcessFiles files{"/proc"};
  TaskTable table{cgroups, files};
  std::optional<HiddenProcesses> hidden;
  Worker worker([] { BurnCpu(std::chrono::milliseconds(20)); });
  ActivitySample sample;
  const auto found = [&] {
    return std::ranges::find_if(sample.processes,
                                [&](const auto& process) { return process.info->key.tgid == worker.pid(); });
  };
  const auto scan = [&] {
    sample = {};
    hidden->BeforePass(clock.Now());
    table.BeginPass(clock.Now());
    hidden->AfterPass(table);
    table.EndPass(sample);
  };
  // A listing takes whoever is older than a clock tick, and the next one is a minute away.
  const auto deadline = clock.Now() + std::chrono::seconds(10);
  do {
    hidden.emplace("/proc", cgroup::Trees{});
    scan();
  } while (found() == sample.processes.end() && clock.Now() < deadline);
  ASSERT_NE(found(), sample.processes.end());
  const Nanoseconds before = CpuClockOf(worker.pid());
  worker.Step();
  scan();
  const Nanoseconds truth = CpuClockOf(worker.pid()) - before;
  ASSERT_NE(found(), sample.processes.end());
  EXPECT_NEAR(static_cast<double>(found()->cpu.count()), static_cast<double>(truth.count()), 2e6);
}

}  // namespace
}  // namespace kepler::activity::bpf
