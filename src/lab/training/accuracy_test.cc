#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "lab/training/samples.h"
#include "lab/training/validation.h"

namespace kepler::lab::training {
namespace {

using ::testing::ElementsAre;

TEST(Judge, FourRows_AsComputedByHand) {
  const auto accuracy = Judge(std::vector<double>{12, 18, 33, 40}, std::vector<double>{10, 20, 30, 40});
  EXPECT_EQ(accuracy.rows, 4U);
  EXPECT_DOUBLE_EQ(accuracy.mae_watts, (2 + 2 + 3 + 0) / 4.0);
  EXPECT_DOUBLE_EQ(accuracy.mape, 100 * (0.2 + 0.1 + 0.1 + 0) / 4);
  EXPECT_DOUBLE_EQ(accuracy.r2, 1 - 17.0 / 500);  // labels are 15, 5, 5 and 15 from their mean
}

TEST(Judge, RowsWithoutPower_HaveNoRelativeError) {
  const auto accuracy = Judge(std::vector<double>{1, 5, 11}, std::vector<double>{0, -5, 10});
  EXPECT_DOUBLE_EQ(accuracy.mape, 10);
  EXPECT_DOUBLE_EQ(accuracy.mae_watts, 4);
  EXPECT_EQ(Judge(std::vector<double>{1}, std::vector<double>{0}).mape, 0);
  EXPECT_EQ(accuracy.mape_rows, 1U);
  EXPECT_EQ(Judge(std::vector<double>(5), std::vector<double>{0, -5, 0.0009, 0.001, 10}).mape_rows, 2U);
}

TEST(Judge, LabelsBelowAMilliwatt_CountForAllButThePercentage) {
  const auto accuracy = Judge(std::vector<double>{1, 1, 11}, std::vector<double>{1e-310, 0.0009, 10});
  EXPECT_DOUBLE_EQ(accuracy.mape, 10);
  EXPECT_NEAR(accuracy.mae_watts, 1, 1e-3);
  EXPECT_DOUBLE_EQ(Judge(std::vector<double>{0.002}, std::vector<double>{0.001}).mape, 100);
  const auto tiny = Judge(std::vector<double>{1e6, 1e6}, std::vector<double>{1e-153, 3e-153});
  EXPECT_EQ(tiny.r2, 0);
  const auto huge = Judge(std::vector<double>{0, 0}, std::vector<double>{kMaxWatts, -kMaxWatts});
  EXPECT_EQ(huge.r2, 0);
}

TEST(Judge, LabelsThatDoNotVary_HaveNoR2) {
  EXPECT_EQ(Judge(std::vector<double>{1, 2, 3}, std::vector<double>{0.1, 0.1, 0.1}).r2, 0);
  EXPECT_EQ(Judge(std::vector<double>{1}, std::vector<double>{7}).r2, 0);
}

TEST(Judge, WorseThanTheMean_IsNegative) {
  EXPECT_DOUBLE_EQ(Judge(std::vector<double>{3, 1}, std::vector<double>{1, 3}).r2, -3);
}

TEST(Judge, NoRows_IsNothing) { EXPECT_EQ(Judge({}, {}).rows, 0U); }

TEST(Subset, RowsInTheirOrder_EvenTwice) {
  const Samples all{
      .features = {.columns = 2, .values = {1, 2, 3, 4, 5, 6}}, .labels = {10, 20, 30}, .groups = {7, 8, 9}};
  const Samples some = Subset(all, std::vector<size_t>{2, 0, 2});
  EXPECT_EQ(some.features.columns, 2U);
  EXPECT_THAT(some.features.values, ElementsAre(5, 6, 1, 2, 5, 6));
  EXPECT_THAT(some.labels, ElementsAre(30, 10, 30));
  EXPECT_THAT(some.groups, ElementsAre(9, 7, 9));
  EXPECT_EQ(Subset(all, {}).features.rows(), 0U);
}

}  // namespace
}  // namespace kepler::lab::training
