#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/recorder/query.h"

namespace kepler::lab::recorder {
namespace {

using ::testing::ElementsAre;

TEST(CountPoints, BothEndsCount) {
  EXPECT_EQ(CountPoints({100, 100}, 5), 1u);
  EXPECT_EQ(CountPoints({100, 146}, 5), 10u);
  EXPECT_EQ(CountPoints({100, 150}, 5), 11u);
  EXPECT_EQ(CountPoints({0, 0.7}, 0.1), 8u);  // although 0.7 / 0.1 is less than 7
}

TEST(SplitRange, Pieces_HaveEachPointOnce) {
  EXPECT_THAT(SplitRange({100, 100}, 5, 10), ElementsAre(TimeRange{100, 100}));
  EXPECT_THAT(SplitRange({100, 146}, 5, 10), ElementsAre(TimeRange{100, 145}));
  EXPECT_THAT(SplitRange({100, 150}, 5, 10), ElementsAre(TimeRange{100, 145}, TimeRange{150, 150}));
  EXPECT_THAT(SplitRange({0, 0.7}, 0.1, 4), ::testing::SizeIs(2));
}

}  // namespace
}  // namespace kepler::lab::recorder
