// The ring buffer on the kernel that runs the tests: half full, and full.
#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "activity/bpf/bpf_options_test_util.h"
#include "activity/bpf/bpf_source.h"
#include "activity/live_test_util.h"

namespace kepler::activity::bpf {
namespace {

/// The ring buffer grows with them.
size_t PossibleProcessors() { return static_cast<size_t>(std::max(::libbpf_num_possible_cpus(), 1)); }

/// More than the ring has room for.
size_t EndsThatOverflow() { return std::clamp<size_t>(PossibleProcessors() * 2'500, 10'000, 45'000); }

/// `count` processes, one after another, that exit immediately.
void RunShortLivedProcesses(size_t count) {
  // A shell is small: a sanitizer's memory would be copied for each of them.
  const std::string script = "i=0; while [ $i -lt " + std::to_string(count) + " ]; do (:); i=$((i+1)); done";
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(1);
  }
  ::waitpid(child, nullptr, 0);
}

uint64_t Dropped(const ActivitySource& source, std::string_view kind) {
  const auto& records = source.status().records;
  const auto of_kind = std::ranges::find(records, kind, &status::RecordCount::kind);
  return of_kind == records.end() ? 0 : of_kind->dropped;
}

TEST(BpfRing, Full_WhatIsDroppedIsItsCgroups) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto cgroup = TestCgroup::Make();
  if (!cgroup) GTEST_SKIP() << "needs a writable cgroup tree with CPU time";
  const size_t ends = EndsThatOverflow();
  const SystemClock clock;
  auto source = BpfSource::Create(kHere, clock);
  ASSERT_TRUE(source) << source.error().message;
  Worker parent([&, enters = true]() mutable {
    if (std::exchange(enters, false)) return cgroup->Enter();
    RunShortLivedProcesses(ends);
  });
  Worker moved([&] { return cgroup->Enter(); });
  parent.Step();
  ActivitySample sample;
  // The workers go to sleep a moment after each step, so the first sample lies between two usages, and so does the
  // last.
  const Nanoseconds before_sample = cgroup->Usage();
  ASSERT_TRUE((*source)->Sample(sample));
  const Nanoseconds after_sample = cgroup->Usage();
  const Nanoseconds elsewhere = CpuClockOf(moved.pid());
  parent.Step();
  for (int time = 0; time < 8; ++time) moved.Step();  // the first may fit in where no end did
  const Nanoseconds least = cgroup->Usage() - after_sample;
  // If the record of its first move is dropped, what it used before the move counts as its new cgroup's.
  const Nanoseconds before_move = CpuClockOf(moved.pid()) - elsewhere;
  Nanoseconds given{0};
  Nanoseconds residual{0};
  size_t short_lived = 0;
  const auto is_ours = [&](const cgroup::Membership& membership) {
    return std::ranges::any_of(membership.lines, [&](const auto& line) { return line.path == cgroup->name(); });
  };
  const auto dropped = [&](std::string_view kind) { return Dropped(**source, kind); };
  const auto all_reported = [&] { return short_lived + dropped("task") + dropped("unreported") >= ends; };
  for (int scan = 0; scan < 250 && !(given + residual >= least && all_reported()); ++scan) {
    ::usleep(20'000);
    ASSERT_TRUE((*source)->Sample(sample));
    EXPECT_EQ(sample.lost.count(), 0);
    for (const auto& charged : sample.residuals)
      if (charged.cgroup->path == cgroup->name()) residual += charged.cpu;
    for (const auto& process : sample.processes)
      if (is_ours(*process.info->cgroup)) given += process.cpu;
    for (const auto& process : sample.short_lived) {
      if (!is_ours(*process.cgroups)) continue;
      given += process.cpu;
      ++short_lived;
    }
  }
  const auto& status = (*source)->status();
  EXPECT_GT(dropped("task"), 0U);
  EXPECT_GT(dropped("moved"), 0U);
  EXPECT_GT(residual, Nanoseconds(0));
  EXPECT_EQ(status.lost.count(), 0);
  EXPECT_GE(status.audit.charged, residual);
  // Ends of other tasks hide a few unreported ones until the machine is quiet (unreported_ends.h). Their time is below.
  EXPECT_GE(short_lived + dropped("task") + dropped("unreported"), ends - ends / 1000);
  const Nanoseconds most = cgroup->Usage() - before_sample;
  EXPECT_LE(given + residual, most + before_move);
  EXPECT_GE(given + residual, least - least / 1000);
}

/// The usage of the unified root is that of the whole machine, so time lost there is unattributed. The root of cpuacct
/// has a usage of its own.
TEST(BpfRing, FullOfProcessesOfTheRoot_WhatIsDroppedIsLostOrTheRoots) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto root = TestCgroup::Root();
  if (!root) GTEST_SKIP() << "needs a writable cgroup tree with CPU time";
  const SystemClock clock;
  auto source = BpfSource::Create(kHere, clock);
  ASSERT_TRUE(source) << source.error().message;
  Worker parent([&, enters = true]() mutable {
    if (std::exchange(enters, false)) return root->Enter();
    RunShortLivedProcesses(EndsThatOverflow());
  });
  parent.Step();
  ActivitySample sample;
  ASSERT_TRUE((*source)->Sample(sample));
  const BootTime before = clock.Now();
  parent.Step();
  const Nanoseconds max = (clock.Now() - before) * static_cast<int64_t>(PossibleProcessors());
  Nanoseconds lost{0};
  Nanoseconds residual{0};
  Nanoseconds given{0};
  int64_t short_lived = 0;
  int64_t dropped = 0;
  // At least half of what the reported ones used on average, for each that was not.
  const auto expected = [&] { return short_lived == 0 ? max : given / short_lived * dropped / 2; };
  for (int scan = 0; scan < 250 && lost + residual < expected(); ++scan) {
    ::usleep(20'000);
    ASSERT_TRUE((*source)->Sample(sample));
    lost += sample.lost;
    for (const auto& charged : sample.residuals)
      if (charged.cgroup->path == "/") residual += charged.cpu;
    for (const auto& process : sample.short_lived) {
      // What others run may be much longer, and so is the shell that starts them all.
      if (process.comm != "sh" || process.cpu > std::chrono::milliseconds(20)) continue;
      given += process.cpu;
      ++short_lived;
    }
    dropped = static_cast<int64_t>(Dropped(**source, "task"));
  }
  EXPECT_GT(dropped, 0);
  EXPECT_GE(lost + residual, expected());
  EXPECT_EQ(lost > Nanoseconds(0), root->is_unified());
  EXPECT_EQ(residual > Nanoseconds(0), !root->is_unified());
  EXPECT_LE(lost, max);
  EXPECT_EQ((*source)->status().lost, lost);
}

TEST(BpfRing, HalfFull_WakesTheCollector) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const size_t ends = std::clamp<size_t>(PossibleProcessors() * 1'500, 6'000, 26'000);
  const SystemClock clock;
  auto source = BpfSource::Create(kHere, clock);
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_GE((*source)->WakeFd(), 0);
  Worker parent([&] {
    for (size_t i = 0; i < ends; ++i) std::thread([] {}).join();
  });
  ActivitySample sample;
  ASSERT_TRUE((*source)->Sample(sample));
  std::atomic<bool> done = false;
  std::jthread stepping([&] {
    parent.Step();
    done = true;
  });
  pollfd ring = {.fd = (*source)->WakeFd(), .events = POLLIN, .revents = 0};
  // The first wake-up comes at half full; drained then, the ring hardly ever fills.
  int woken = 0;
  while (woken == 0 && !done) woken = ::poll(&ring, 1, 50);
  ASSERT_EQ(woken, 1);
  (*source)->Drain();
  while (!done)
    if (::poll(&ring, 1, 50) == 1) (*source)->Drain();
  const auto& records = (*source)->status().records;
  const auto most_are_taken = [&] { return !records.empty() && records[0].taken >= ends / 6 * 5; };
  for (int scan = 0; scan < 250 && !most_are_taken(); ++scan) {  // the last ones come late
    ASSERT_TRUE((*source)->Sample(sample));
    ::usleep(20'000);
  }
  EXPECT_TRUE(most_are_taken()) << records[0].taken << " of " << ends;
  EXPECT_LE(records[0].dropped, ends / 10) << "of a program that a sanitizer slows down";
}

}  // namespace
}  // namespace kepler::activity::bpf
