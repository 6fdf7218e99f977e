#include "base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace kepler {
namespace {

TEST(Energy, SumAndDifference_AreExact) {
  Energy energy = Energy::Microjoules(5);
  energy += Energy::Microjoules(7);
  energy -= Energy::Microjoules(3);
  EXPECT_EQ(energy, Energy::Microjoules(9));
}

TEST(Power, NotFinite_BecomesZero) {
  EXPECT_EQ(Power::Watts(std::numeric_limits<double>::quiet_NaN()).watts(), 0.0);
  EXPECT_EQ(Power::Watts(std::numeric_limits<double>::infinity()).watts(), 0.0);
}

TEST(Power, Sum_IsOfBoth) { EXPECT_EQ((Power::Watts(2.5) + Power::Watts(0.5)).watts(), 3.0); }

TEST(Power, EnergyOverTime_IsWatts) {
  EXPECT_DOUBLE_EQ((Energy::Joules(10) / std::chrono::seconds(4)).watts(), 2.5);
  EXPECT_EQ((Energy::Joules(10) / Nanoseconds(0)).watts(), 0.0);
}

TEST(Ratio, OutOfBounds_IsClamped) {
  EXPECT_EQ(Ratio::Clamped(1.5).value(), 1.0);
  EXPECT_EQ(Ratio::Clamped(-0.5).value(), 0.0);
  EXPECT_EQ(Ratio::Clamped(std::numeric_limits<double>::quiet_NaN()).value(), 0.0);
}

RC_GTEST_PROP(Fraction, IsAFloorWithinTheWhole, ()) {
  const Energy whole = Energy::Microjoules(*rc::gen::inRange<int64_t>(0, int64_t{1} << 52));
  const Ratio ratio = Ratio::Clamped(*rc::gen::inRange(0, 10'001) / 10'000.0);
  const Energy part = Fraction(whole, ratio);
  RC_ASSERT(part >= Energy{});
  RC_ASSERT(part <= whole);
}

}  // namespace
}  // namespace kepler
