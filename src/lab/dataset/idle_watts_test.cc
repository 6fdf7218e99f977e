#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lab/dataset/isolation.h"

namespace kepler::lab::dataset {
namespace {

TEST(PercentileOf, LiesBetweenItsNeighbours) {
  EXPECT_EQ(PercentileOf({3, 1, 2}, 0), 1);
  EXPECT_EQ(PercentileOf({3, 1, 2}, 100), 3);
  EXPECT_EQ(PercentileOf({3, 1, 2}, 50), 2);
  EXPECT_EQ(PercentileOf({1, 2}, 25), 1.25);
  EXPECT_EQ(PercentileOf({7}, 10), 7);
}

TEST(FindIdleWatts, IsOfTheRowsWithTheLeastLoad) {
  std::vector<double> load, watts;
  for (int i = 0; i < 200; ++i) {
    load.push_back(199 - i);
    watts.push_back(30 + load.back());
  }
  const auto idle = FindIdleWatts(load, watts, 0.1, 50);
  ASSERT_TRUE(idle);
  EXPECT_EQ(idle->rows, 20U);
  EXPECT_EQ(idle->most_load, 19);
  EXPECT_EQ(idle->watts, 39.5);
}

TEST(FindIdleWatts, OneBadReading_IsNotTheIdlePower) {
  std::vector<double> load(100, 5), watts(100, 40);
  watts[17] = 0;
  EXPECT_EQ(FindIdleWatts(load, watts, 0.5, 10)->watts, 40);
}

TEST(FindIdleWatts, FewRows) {
  EXPECT_EQ(FindIdleWatts(std::vector<double>{1, 2}, std::vector<double>{3, 5}, 0.1, 50)->rows, 2U);
  EXPECT_FALSE(FindIdleWatts(std::vector<double>{}, std::vector<double>{}, 0.1, 50));
  EXPECT_EQ(FindIdleWatts(std::vector<double>{1, NAN, 1}, std::vector<double>{NAN, 5, 4}, 0.1, 50)->watts, 4);
}

}  // namespace
}  // namespace kepler::lab::dataset
