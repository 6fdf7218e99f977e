#include "base/wall_history.h"

#include <gtest/gtest.h>

namespace kepler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr BootTime Boot(int64_t second) { return BootTime(seconds(second)); }
constexpr WallTime Wall(int64_t second) { return WallTime(seconds(second)); }

TEST(WallHistory, NoStep_BootTimePlusAConstant) {
  WallHistory history(Boot(10), Wall(1010));
  EXPECT_FALSE(history.Observe(Boot(20), Wall(1020) + milliseconds(99)));
  EXPECT_EQ(history.Of(Boot(10)), Wall(1010));
  EXPECT_EQ(history.Of(Boot(19)), Wall(1019));
  EXPECT_EQ(history.Of(Boot(3)), Wall(1003)) << "before the first reading";
}

TEST(WallHistory, ForwardAndBackwardSteps_ChangeOnlyLaterTimes) {
  WallHistory history(Boot(10), Wall(1010));
  EXPECT_FALSE(history.Observe(Boot(20), Wall(1020)));
  EXPECT_TRUE(history.Observe(Boot(30), Wall(4630)));
  EXPECT_FALSE(history.Observe(Boot(40), Wall(4640)));
  EXPECT_FALSE(history.ignores_step());
  EXPECT_TRUE(history.Observe(Boot(50), Wall(950)));
  EXPECT_EQ(history.Of(Boot(10)), Wall(1010));
  EXPECT_EQ(history.Of(Boot(19)), Wall(1019));
  EXPECT_EQ(history.Of(Boot(20)), Wall(4620)) << "from the last reading before the step on";
  EXPECT_EQ(history.Of(Boot(39)), Wall(4639));
  EXPECT_EQ(history.Of(Boot(40)), Wall(940));
  EXPECT_EQ(history.Of(Boot(100)), Wall(1000));
}

/// Whoever begins after a reading starts no later than the clock shows at the next reading.
TEST(WallHistory, AnySteps_StartIsNeverAfterTheFirstSample) {
  WallHistory history(Boot(0), Wall(10'000));
  for (int64_t second = 1; second < 100; ++second) {
    const WallTime wall = Wall(10'000 + second + (second % 7) * 900 - (second % 5) * 700);
    history.Observe(Boot(second), wall);
    EXPECT_LE(history.Of(Boot(second - 1)), wall) << second;
  }
}

TEST(WallHistory, TooManySteps_KnownTimesStay) {
  WallHistory history(Boot(0), Wall(0));
  const auto jump = [&](int64_t second) { return history.Observe(Boot(second), Wall(second * 3)); };
  int64_t second = 1;
  while (jump(second)) ++second;
  EXPECT_EQ(second, int64_t{WallHistory::kMaxSteps});
  const WallTime known = history.Of(Boot(second - 1));
  EXPECT_TRUE(history.ignores_step());
  EXPECT_FALSE(jump(second + 1));
  EXPECT_EQ(history.Of(Boot(second - 1)), known);
  EXPECT_EQ(history.Of(Boot(1)), Wall(1 + 2 * 2)) << "the clock of the reading at 2 s";
}

}  // namespace
}  // namespace kepler
