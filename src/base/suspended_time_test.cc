#include "base/suspended_time.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>

namespace kepler {
namespace {

using namespace std::chrono_literals;

Nanoseconds ReadClock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
}

TEST(SuspendedTime, IsTheDifferenceOfTheKernelsClocks) {
  // The smallest of several: a thread that waits for a CPU between two clocks reads too much.
  Nanoseconds suspended = Nanoseconds::max();
  Nanoseconds expected = Nanoseconds::max();
  for (int i = 0; i < 100; ++i) {
    suspended = std::min(suspended, SuspendedTime());
    const Nanoseconds awake = ReadClock(CLOCK_MONOTONIC);
    expected = std::min(expected, ReadClock(CLOCK_BOOTTIME) - awake);
  }
  EXPECT_LT(std::chrono::abs(suspended - expected), 10ms);
}

}  // namespace
}  // namespace kepler
