#include "pipeline/collector.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "pipeline/node_test_util.h"
#include "testing/no_threads.h"

namespace kepler::pipeline {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Collector, OnDemandOnly_EachStaleReaderGetsANewTick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), Nanoseconds(0)});
  ASSERT_TRUE(collector.Start());
  const auto first = collector.Fresh();
  ASSERT_NE(first, nullptr);
  const auto second = collector.Fresh();
  ASSERT_NE(second, nullptr);
  EXPECT_GT(second->sequence, first->sequence);
  EXPECT_GE(second->taken_boot - first->taken_boot, Collector::kBetweenDemands);
  EXPECT_TRUE(collector.IsLive());
}

TEST(Collector, OnDemandOnly_ARequestIsOneTick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), Nanoseconds(0)});
  const BootTime begin = node.system_clock.Now();
  ASSERT_TRUE(collector.Start());
  std::shared_ptr<const snapshot::Snapshot> latest;
  do {
    latest = collector.Fresh();
    ASSERT_NE(latest, nullptr);
  } while (latest->taken_boot - begin < 2 * Collector::kFirstInterval);  // the first one of all is asked for by nobody
  // Time for two ticks more, or for a thread that spins.
  const auto used = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
  };
  const Nanoseconds before = used();
  while (node.system_clock.Now() - latest->taken_boot < 3 * Collector::kBetweenDemands)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(node.board.Latest()->sequence, latest->sequence);
  EXPECT_LT(used() - before, Collector::kBetweenDemands);
}

/// Until that thread of this process waits for something.
void WaitUntilAsleep(const std::atomic<pid_t>& thread) {
  const auto state = [&] {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string pid, comm, letter;
    file >> pid >> comm >> letter;
    return letter;
  };
  while (thread == 0) std::this_thread::yield();
  for (std::string now = state(); now != "S"; now = state()) {
    ASSERT_NE(now, "") << "it has ended";
    std::this_thread::yield();
  }
}

TEST(Collector, RequestDuringATickWhoseSnapshotAnswersIt_AsksForNoOther) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), hours(1)});
  std::jthread reader;
  std::atomic<pid_t> reads = 0;
  std::binary_semaphore asked{0};
  node.activity.while_settling = [&, ticks = 0]() mutable {
    if (++ticks != 2) return;  // the first that makes a snapshot
    reader = std::jthread([&] {
      reads = gettid();
      EXPECT_NE(collector.Fresh(), nullptr);
    });
    WaitUntilAsleep(reads);  // nobody else holds a lock for which it might be asleep
    asked.release();
  };
  ASSERT_TRUE(collector.Start());
  asked.acquire();
  while (node.board.Latest() == nullptr) std::this_thread::yield();
  const BootTime published = node.system_clock.Now();
  while (node.system_clock.Now() - published < 3 * Collector::kBetweenDemands)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  collector.Stop();
  EXPECT_EQ(node.board.Latest()->sequence, 1u);
}

/// To one thread the first snapshot is old as soon as it is there.
class LeapClock final : public Clock {
 public:
  LeapClock(const Clock& clock, const snapshot::Board& board) : clock_(clock), board_(board) {}
  [[nodiscard]] BootTime Now() const override {
    const bool leaps = gettid() == leaper && board_.Latest() != nullptr;
    return clock_.Now() + (leaps ? hours(2) : hours(0));
  }
  [[nodiscard]] WallTime Wall() const override { return clock_.Wall(); }
  std::atomic<pid_t> leaper = 0;

 private:
  const Clock& clock_;
  const snapshot::Board& board_;
};

TEST(Collector, SnapshotThatWasFreshOnlyWhenTheTickEnded_AnotherTickIsAskedFor) {
  LiveNode node;
  LeapClock clock(node.system_clock, node.board);
  Collector collector(*node.tick, node.board, clock, {Nanoseconds(0), hours(1)});
  std::jthread reader;
  std::atomic<uint64_t> sequence = 0;
  node.activity.while_settling = [&, ticks = 0]() mutable {
    if (++ticks != 2) return;  // the first that makes a snapshot
    reader = std::jthread([&] {
      clock.leaper = gettid();
      sequence = collector.Fresh()->sequence;
    });
    WaitUntilAsleep(clock.leaper);
  };
  ASSERT_TRUE(collector.Start());
  while (sequence == 0) std::this_thread::yield();
  collector.Stop();
  EXPECT_EQ(sequence, 2u);
}

/// From now on this process is refused a system call with `err`.
void Forbid(long call, uint32_t err) {
  sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(steps), steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(2);
}

/// Starts a collector to which `call` is refused, and ends with its error on stderr.
[[noreturn]] void StartWithout(LiveNode& node, long call, uint32_t err) {
  Collector collector(*node.tick, node.board, node.system_clock, {hours(1), hours(1)});
  Forbid(call, err);
  const Status started = collector.Start();
  std::cerr << (started ? "started" : started.error().message) << std::flush;
  _exit(started ? 1 : 3);
}

TEST(Collector, EverySnapshotIsObservedOnce) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), Nanoseconds(0)});
  std::mutex mutex;
  std::vector<uint64_t> seen;
  collector.OnSnapshot([&](const snapshot::Snapshot& snapshot) {
    const std::scoped_lock lock(mutex);
    seen.push_back(snapshot.sequence);
  });
  ASSERT_TRUE(collector.Start());
  for (int i = 0; i < 2; ++i) ASSERT_NE(collector.Fresh(), nullptr);
  collector.Stop();
  ASSERT_GE(seen.size(), 2u);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_EQ(seen[i], seen[i - 1] + 1);
  EXPECT_EQ(seen.back(), node.board.Latest()->sequence);
}

TEST(CollectorDeathTest, RefusedTimer_IsNotBlamedOnDescriptors) {
  LiveNode node;
  for (const long call : {__NR_timerfd_create, __NR_timerfd_settime})
    EXPECT_EXIT(StartWithout(node, call, EPERM), ::testing::ExitedWithCode(3),
                "the timer of the collection thread: Operation not permitted; check whether a seccomp filter");
  EXPECT_EXIT(StartWithout(node, __NR_eventfd2, EPERM), ::testing::ExitedWithCode(3),
              "create the eventfd of .*Operation not permitted");
}

TEST(CollectorDeathTest, NoDescriptorLeft_TheLimitIsNamed) {
  LiveNode node;
  EXPECT_EXIT(StartWithout(node, __NR_timerfd_create, EMFILE), ::testing::ExitedWithCode(3),
              "create the timer of .*Too many open files; raise the limit of open files");
}

TEST(Collector, DeadlinesLongAfterADemand_AreKept) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {2 * Collector::kBetweenDemands, Nanoseconds(0)});
  ASSERT_TRUE(collector.Start());
  const auto demanded = collector.Fresh();
  ASSERT_NE(demanded, nullptr);
  while (node.board.Latest()->sequence < demanded->sequence + 3) std::this_thread::yield();
}

TEST(Collector, IntervalShorterThanBetweenDemands_IsKept) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {milliseconds(20), hours(1)});
  ASSERT_TRUE(collector.Start());
  Nanoseconds shortest = hours(1);
  for (std::shared_ptr<const snapshot::Snapshot> last; last == nullptr || last->sequence < 20;) {
    const auto next = node.board.Latest();
    if (next != last && last != nullptr) shortest = std::min(shortest, next->taken_boot - last->taken_boot);
    last = next;
    std::this_thread::yield();
  }
  EXPECT_LT(shortest, Collector::kBetweenDemands);
}

TEST(Collector, FreshSnapshot_IsServedWithoutATick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {hours(1), hours(1)});
  ASSERT_TRUE(collector.Start());
  const auto first = collector.Fresh();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(collector.Fresh()->sequence, first->sequence);
}

TEST(Collector, ManyReadersAtOnce_ShareOneTick) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), milliseconds(300)});
  ASSERT_TRUE(collector.Start());
  std::vector<std::jthread> readers;
  readers.reserve(50);
  std::atomic<uint64_t> max = 0;
  for (int i = 0; i < 50; ++i)
    readers.emplace_back([&] {
      const auto snapshot = collector.Fresh();
      ASSERT_NE(snapshot, nullptr);
      uint64_t seen = max;
      while (seen < snapshot->sequence && !max.compare_exchange_weak(seen, snapshot->sequence)) {
      }
    });
  readers.clear();
  EXPECT_LE(max, 3u);
}

TEST(Collector, StoppedTwice_IsFine) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {seconds(5), seconds(10)});
  ASSERT_TRUE(collector.Start());
  collector.Stop();
  collector.Stop();
}

TEST(Collector, NoThreadToTickOn_IsAnErrorOfTheStart) {
  LiveNode node;
  Collector collector(*node.tick, node.board, node.system_clock, {seconds(5), seconds(10)});
  const testing::NoThreads limit;
  const Status started = collector.Start();
  ASSERT_FALSE(started);
  EXPECT_TRUE(started.error().message.starts_with("start thread collector: ")) << started.error().message;
}

TEST(Collector, NoTickForLong_IsNotLive) {
  // Far ahead of the kernel's clock, so that its timer does not fire for the deadlines of this one.
  TestNode node({}, hours(24 * 365 * 100));
  Collector collector(*node.tick, node.board, node.clock, {seconds(5), seconds(10)});
  ASSERT_TRUE(collector.Start());
  EXPECT_TRUE(collector.IsLive());
  collector.Stop();
  node.clock.Advance(seconds(14));
  EXPECT_TRUE(collector.IsLive());
  node.clock.Advance(seconds(2));
  EXPECT_FALSE(collector.IsLive());
}

TEST(Collector, OnDemandOnly_RequestThatNobodyAnswersForLong_IsNotLive) {
  TestNode node({}, hours(24 * 365 * 100));
  Collector collector(*node.tick, node.board, node.clock, {Nanoseconds(0), seconds(60)});
  ASSERT_TRUE(collector.Start());
  collector.Stop();
  node.clock.Advance(hours(1));
  EXPECT_TRUE(collector.IsLive()) << "nobody asks";
  EXPECT_EQ(collector.Fresh(), nullptr);
  EXPECT_TRUE(collector.IsLive());
  node.clock.Advance(seconds(60));
  EXPECT_TRUE(collector.IsLive());
  node.clock.Advance(Nanoseconds(1));
  EXPECT_FALSE(collector.IsLive());
}

/// A source with a descriptor of its own, which a test makes readable.
class WakingActivity final : public activity::ActivitySource {
 public:
  /// `quiets`: Drain() takes the signal in, as it should.
  explicit WakingActivity(bool quiets) : quiets_(quiets) { wake_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }
  Status Sample(activity::ActivitySample&) override {
    sampled.release();
    return {};
  }
  [[nodiscard]] int WakeFd() const override { return wake_.get(); }
  void Drain() override {
    uint64_t count = 0;
    if (quiets_ && read(wake_.get(), &count, sizeof count) != sizeof count) ++drained_for_nothing;
    ++drains;
    drained.release();
  }
  [[nodiscard]] std::span<const cgroup::CgroupPtr> LivingCgroups() const override { return {}; }
  [[nodiscard]] const status::ActivityStatus& status() const override { return status_; }
  void Wake() {
    const uint64_t one = 1;
    ASSERT_EQ(write(wake_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  std::counting_semaphore<> sampled{0};
  std::counting_semaphore<> drained{0};
  std::atomic<uint64_t> drains = 0;
  std::atomic<uint64_t> drained_for_nothing = 0;

 private:
  const bool quiets_;
  UniqueFd wake_;
  status::ActivityStatus status_;
};

struct WakingNode : LiveNode {
  explicit WakingNode(bool quiets) : waking(quiets) {
    tick = std::make_unique<NodeTick>(NodeParts{waking, *meters, resolver, board, system_clock, proc.root()},
                                      attribution::RetentionPolicy{});
  }
  WakingActivity waking;
};

TEST(Collector, SourceWakes_IsDrainedBetweenTicks) {
  WakingNode node(true);
  Collector collector(*node.tick, node.board, node.system_clock, {hours(1), hours(1)});
  ASSERT_TRUE(collector.Start());
  // The baseline and the first snapshot; then nothing happens for an hour.
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(node.waking.sampled.try_acquire_for(seconds(20)));
  for (int i = 0; i < 3; ++i) {
    node.waking.Wake();
    ASSERT_TRUE(node.waking.drained.try_acquire_for(seconds(20)));
  }
  collector.Stop();
  EXPECT_EQ(node.waking.drains, 3u);
  EXPECT_EQ(node.waking.drained_for_nothing, 0u);
  EXPECT_FALSE(node.waking.sampled.try_acquire()) << "a tick";
}

TEST(Collector, SourceStaysReadable_NeitherBusyLoopNorDelay) {
  WakingNode node(false);
  Collector collector(*node.tick, node.board, node.system_clock, {Nanoseconds(0), Nanoseconds(0)});
  ASSERT_TRUE(collector.Start());
  const BootTime begin = node.system_clock.Now();
  node.waking.Wake();
  uint64_t last = 0;
  for (int i = 0; i < 5; ++i) {
    const auto snapshot = collector.Fresh();
    ASSERT_NE(snapshot, nullptr);
    EXPECT_GT(snapshot->sequence, last);
    last = snapshot->sequence;
  }
  collector.Stop();
  const auto possible = (node.system_clock.Now() - begin) / Collector::kBetweenDrains + 1;
  EXPECT_GT(node.waking.drains, 0u);
  EXPECT_LE(node.waking.drains, static_cast<uint64_t>(possible));
}

}  // namespace
}  // namespace kepler::pipeline
