// Events of the kernel's own counters, on the kernel that runs the tests.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "activity/bpf/bpf_source.h"
#include "activity/bpf/programs.h"
#include "activity/live_test_util.h"
#include "os/file.h"
#include "os/proc_stat.h"

namespace kepler::activity::bpf {
namespace {

TEST(BpfCounters, CountersThatTheKernelDoesNotTake_CostNothingElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  auto counters = PerfCounters::Open(CounterKind::kSoftware);
  ASSERT_TRUE(counters) << counters.error().message;
  for (const char* refused : {"on_switch", "on_fork", "split_slice"}) {
    const auto programs = Programs::Load({.counters = &*counters, .leave_out = {refused}});
    ASSERT_TRUE(programs) << refused << ": " << programs.error().message;
    EXPECT_FALSE((*programs)->counts_events()) << refused;
    EXPECT_TRUE((*programs)->OpenTasks());
  }
}

/// Software events and CPU time of one process. The event cpu-clock replaces cycles; its unit is nanoseconds.
class SoftwareCounters : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    auto source = BpfSource::Create({.procfs = "/proc", .sysfs = "/sys", .counters = CounterKind::kSoftware}, clock_);
    ASSERT_TRUE(source) << source.error().message;
    source_ = *std::move(source);
    ASSERT_TRUE(source_->Sample(sample_));
  }
  /// The best of a few: a slice whose begin or end is kept from the program (see ShortLivedChildren) is not counted,
  /// that is chance.
  template <class Work>
  HardwareEvents Measure(pid_t pid, Work work) {
    double error = 0;
    HardwareEvents events;
    for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
      const auto before = ReadProcStat();
      work();
      EXPECT_TRUE(source_->Sample(sample_));
      // The clock runs on in stolen time, which is reported in ticks of each processor.
      const auto stolen =
          static_cast<double>((os::StolenTime(before, ReadProcStat()) + before.cpus * os::ClockTick()).count());
      const auto found =
          std::ranges::find_if(sample_.processes, [&](const auto& process) { return process.info->key.tgid == pid; });
      if (found == sample_.processes.end()) continue;
      events = found->events;
      error = static_cast<double>(events.cycles) - static_cast<double>(found->cpu.count());
      if (error > -kTolerance && error < kTolerance + stolen) return events;
      std::printf("attempt %d of %d: off by %.0f ns\n", attempt + 1, kMaxAttempts, error);
    }
    ADD_FAILURE() << "off by " << error << " ns";
    return events;
  }
  static constexpr double kTolerance = 1e7;
  static constexpr int kMaxAttempts = 5;

  const SystemClock clock_;
  std::unique_ptr<BpfSource> source_;
  ActivitySample sample_;

 private:
  static os::ProcStatCpu ReadProcStat() {
    const auto text = os::ReadWholeFile("/proc/stat");
    const auto cpu = text ? os::ParseProcStat(*text) : std::unexpected(text.error());
    return cpu.value_or(os::ProcStatCpu{});
  }
};

TEST_F(SoftwareCounters, CountForTheProcessThatRan) {
  Worker worker([] { BurnCpu(std::chrono::milliseconds(100)); });
  const HardwareEvents events = Measure(worker.pid(), [&] { worker.Step(); });
  EXPECT_GE(events.instructions, 1U) << "a context switch";
}

TEST_F(SoftwareCounters, CountUpToTheScan_ForATaskThatKeepsItsProcessor) {
  const HardwareEvents events = Measure(::getpid(), [] { BurnCpu(std::chrono::milliseconds(300)); });
  EXPECT_GE(static_cast<double>(events.cycles), 3e8 - kTolerance);
}

/// The kernel ends the counters of a CPU that goes offline: their descriptors stay open, and their time is unchanged.
TEST_F(SoftwareCounters, ThatTheKernelEnded_AreOpenedAgain) {
  int ended = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry, closed) != "anon_inode:[perf_event]") continue;
    ASSERT_EQ(::ioctl(std::stoi(entry.path().filename()), PERF_EVENT_IOC_DISABLE, 0), 0);
    ++ended;
  }
  EXPECT_GT(ended, 0);
  for (int scan = 0; scan < 2; ++scan) ASSERT_TRUE(source_->Sample(sample_));
  const HardwareEvents events = Measure(::getpid(), [] { BurnCpu(std::chrono::milliseconds(300)); });
  EXPECT_GE(static_cast<double>(events.cycles), 3e8 - kTolerance);
}

}  // namespace
}  // namespace kepler::activity::bpf
