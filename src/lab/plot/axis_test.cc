#include "lab/plot/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace kepler::lab::plot {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Labels(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks) labels.push_back(tick.label);
  return labels;
}

TEST(Axis, Ticks_AreRoundAndCoverTheRange) {
  EXPECT_THAT(Labels(MakeAxis(31.2, 187.5, 4)), ElementsAre("0", "50", "100", "150", "200"));
  EXPECT_THAT(Labels(MakeAxis(-3, 7, 3)), ElementsAre("\u22125", "0", "5", "10"));
  EXPECT_THAT(Labels(MakeAxis(0, 0.021, 3)), ElementsAre("0", "0.01", "0.02", "0.03"));
  EXPECT_THAT(Labels(MakeAxis(0, 4e9, 2)), ElementsAre("0", "2 G", "4 G"));
  EXPECT_THAT(Labels(MakeAxis(0, 1e6, 2)), ElementsAre("0", "500,000", "1,000,000"));
  EXPECT_THAT(Labels(MakeAxis(0, 2e-9, 2)), ElementsAre("0", "1e-09", "2e-09"));
}

TEST(Axis, ConstantData_IsWidened) {
  for (const double value : {0.0, 42.0, -1e-12, 1e15, 1e300, -1e308}) {
    const Axis axis = MakeAxis(value, value, 5);
    EXPECT_LT(axis.min, axis.max) << value;
    EXPECT_TRUE(std::isfinite(axis.max - axis.min)) << value;
  }
}

RC_GTEST_PROP(Axis, AnyRange_IsCoveredByAFewTicks, (double a, double b)) {
  if (!std::isfinite(a) || !std::isfinite(b)) return;
  const Axis axis = MakeAxis(std::min(a, b), std::max(a, b), 6);
  RC_ASSERT(axis.ticks.size() >= 2u);
  RC_ASSERT(axis.ticks.size() <= 20u);
  RC_ASSERT(axis.ticks.front().at == axis.min);
  RC_ASSERT(axis.ticks.back().at == axis.max);
  const double slack = (axis.max - axis.min) * 1e-6;
  if (std::abs(a) < 1e300 && std::abs(b) < 1e300) {
    RC_ASSERT(axis.min <= std::min(a, b) + slack);
    RC_ASSERT(axis.max >= std::max(a, b) - slack);
  }
}

TEST(Numbers, AreGroupedByThousands) {
  EXPECT_EQ(Grouped(1234567.891, 2), "1,234,567.89");
  EXPECT_EQ(Grouped(999, 0), "999");
  EXPECT_EQ(Grouped(-1000, 1), "\u22121,000.0");
  EXPECT_EQ(Grouped(-0.001, 1), "0.0");
}

TEST(Numbers, Short_KeepsAFewDigits) {
  EXPECT_EQ(Short(10.1411), "10.1");
  EXPECT_EQ(Short(0.012345), "0.0123");
  EXPECT_EQ(Short(1234.5), "1,234");
  EXPECT_EQ(Short(512e9), "512 G");
  EXPECT_EQ(Short(-3.2487), "\u22123.25");
  EXPECT_EQ(Short(0), "0");
  EXPECT_EQ(Short(1e-9), "1e-09");
}

}  // namespace
}  // namespace kepler::lab::plot
