#include "base/thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <csignal>
#include <latch>
#include <memory>
#include <string>

#include "testing/no_threads.h"

namespace kepler {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Which of the signals that people send is blocked in the calling thread, as text.
std::string Blocked() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  std::string blocked;
  for (const int signal : {SIGTERM, SIGPIPE, SIGUSR1}) blocked += sigismember(&mask, signal) == 1 ? 'x' : '-';
  return blocked;
}

TEST(StartThread, Work_RunsUnderItsNameUntilItIsStopped) {
  std::string name;
  std::string blocked;
  bool stopped = false;
  {
    auto thread = StartThread("worker", [&](const std::stop_token& stop) {
      std::array<char, 16> comm{};
      prctl(PR_GET_NAME, comm.data());
      name = comm.data();
      blocked = Blocked();
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped = true;
    });
    ASSERT_TRUE(thread) << thread.error().message;
  }
  EXPECT_EQ(name, "worker");
  EXPECT_EQ(blocked, "xxx");
  EXPECT_TRUE(stopped);
  EXPECT_EQ(Blocked(), "---");
}

TEST(StartThread, NoThreadCanBeMade_SaysWhatToRaiseAndLeavesTheSignals) {
  const testing::NoThreads limit;
  const auto thread = StartThread("worker", [](const std::stop_token&) {});
  ASSERT_FALSE(thread);
  EXPECT_THAT(thread.error().message, StartsWith("start thread worker: Resource temporarily unavailable; raise "));
  EXPECT_THAT(thread.error().message, HasSubstr("TasksMax="));
  EXPECT_EQ(Blocked(), "---");
}

TEST(BlockingThread, WorkThatEnds_IsJoined) {
  auto done = std::make_shared<std::atomic<bool>>(false);
  auto thread = BlockingThread::Start("worker", [done](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
    *done = true;
  });
  ASSERT_TRUE(thread) << thread.error().message;
  EXPECT_FALSE(thread->HasEnded());
  thread->EndBy(std::chrono::steady_clock::now() + std::chrono::minutes(1));
  EXPECT_TRUE(*done);
  EXPECT_EQ(ThreadsLeftBehind(), 0u);
}

TEST(BlockingThread, WorkThatHangs_IsLeftBehindUntilItEnds) {
  auto gate = std::make_shared<std::latch>(1);
  {
    auto thread = BlockingThread::Start("worker", [gate](const std::stop_token&) { gate->wait(); });
    ASSERT_TRUE(thread) << thread.error().message;
    thread->EndBy(std::chrono::steady_clock::now());
    EXPECT_EQ(ThreadsLeftBehind(), 1u);
  }
  EXPECT_EQ(ThreadsLeftBehind(), 1u);
  gate->count_down();
  while (ThreadsLeftBehind() > 0) std::this_thread::yield();
}

}  // namespace
}  // namespace kepler
