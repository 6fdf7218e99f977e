#include "export/series/figure_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace kepler::series {
namespace {

TEST(JoulesText, EveryMicrojoule) {
  EXPECT_EQ(JoulesText(Energy{}), "0.000000");
  EXPECT_EQ(JoulesText(Energy::Microjoules(1)), "0.000001");
  EXPECT_EQ(JoulesText(Energy::Microjoules(-1)), "-0.000001");
  EXPECT_EQ(JoulesText(Energy::Microjoules(-12'500'000)), "-12.500000");
  EXPECT_EQ(JoulesText(Energy::Microjoules(std::numeric_limits<int64_t>::max())), "9223372036854.775807");
}

TEST(TimeText, MillisecondsAreCut_AlsoBeforeTheEpoch) {
  EXPECT_EQ(TimeText(WallTime(std::chrono::nanoseconds(1'700'000'000'999'999'999))), "2023-11-14T22:13:20.999Z");
  EXPECT_EQ(TimeText(WallTime{}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(TimeText(WallTime(std::chrono::nanoseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace kepler::series
