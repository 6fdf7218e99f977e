#include "daemon/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <memory>
#include <thread>

#include "base/thread.h"

namespace kepler::daemon {
namespace {

Result<std::unique_ptr<Service>> NoStart() { return Fail(ErrorKind::kInvalid, "of the test"); }

constexpr int kReturned = 9;

/// A read through stdio holds the lock of its stream.
[[noreturn]] void RunWithAThreadThatHangsInStdio() {
  int ends[2];
  if (pipe(ends) != 0) _exit(kReturned);
  std::FILE* const nothing_comes = fdopen(ends[0], "r");
  std::latch begun(1);
  {
    auto hanging = BlockingThread::Start("hanging", [&](const std::stop_token&) {
      flockfile(nothing_comes);
      begun.count_down();
      static_cast<void>(std::fgetc(nothing_comes));
    });
    if (!hanging) _exit(kReturned);
    begun.wait();
  }
  alarm(10);  // else the test would hang with it
  static_cast<void>(Run("program", "1", NoStart));
  _exit(kReturned);
}

[[noreturn]] void RunWithAThreadThatHangs() {
  {
    auto hanging = BlockingThread::Start("hanging", [](const std::stop_token&) {
      while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    });
    if (!hanging) _exit(kReturned);
  }
  static_cast<void>(Run("program", "1", NoStart));
  _exit(kReturned);
}

// main() would go on to destroy what the thread may use.
TEST(RunDeathTest, AThreadThatHangs_ProgramEndsAtOnceWithItsCode) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunWithAThreadThatHangs(), ::testing::ExitedWithCode(EXIT_FAILURE), "");
}

TEST(RunDeathTest, AThreadThatHangsInStdio_ProgramEndsAtOnceWithItsCode) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunWithAThreadThatHangsInStdio(), ::testing::ExitedWithCode(EXIT_FAILURE), "");
}

TEST(RunDeathTest, NoSuchThread_RunReturns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(10 + daemon::Run("program", "1", NoStart)), ::testing::ExitedWithCode(10 + EXIT_FAILURE), "");
}

}  // namespace
}  // namespace kepler::daemon
