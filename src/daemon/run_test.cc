#include "daemon/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/thread.h"

namespace kepler::daemon {
namespace {

Result<std::unique_ptr<Service>> NoStart() { return Fail(ErrorKind::kInvalid, "of the test"); }

[[noreturn]] void RunWithAThreadThatHangs() {
  constexpr int kReturned = 9;
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

TEST(RunDeathTest, NoSuchThread_RunReturns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(_exit(10 + daemon::Run("program", "1", NoStart)), ::testing::ExitedWithCode(10 + EXIT_FAILURE), "");
}

}  // namespace
}  // namespace kepler::daemon
