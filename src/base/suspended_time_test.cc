#include "base/suspended_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace kepler {
namespace {

using namespace std::chrono_literals;

/// The smallest of several: a thread that waits for a CPU between the two clocks reads too much.
Nanoseconds ReadQuietly() {
  Nanoseconds least = SuspendedTime();
  for (int i = 0; i < 100; ++i) least = std::min(least, SuspendedTime());
  return least;
}

TEST(SuspendedTime, Awake_IsUnchanged) {
  const Nanoseconds before = ReadQuietly();
  std::this_thread::sleep_for(50ms);
  EXPECT_LT(std::chrono::abs(ReadQuietly() - before), 10ms);
}

}  // namespace
}  // namespace kepler
