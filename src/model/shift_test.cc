#include "model/shift.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace kepler::model {
namespace {

using Formula = decltype(Predictor::formula);

const std::vector<double> kShift = {2, -3};

double Watts(const Formula& formula, double x, double y) {
  return Predict(Predictor{.limits = {}, .scale = {}, .formula = formula}, std::array{x, y});
}

TEST(ShiftFeatures, EveryFormula_GivesTheWattsOfShiftedRows) {
  const Trees::Node root{.value = 0.7F, .left = 1, .right = 2, .feature = 1};
  const Formula formulas[] = {
      Linear{.bias = 1, .weights = {2, 5}}, Polynomial{.bias = 1, .weights = {2, 5}, .products = {7, 11, 13}},
      Trees{.base = 1, .roots = {0}, .nodes = {root, {.value = 3}, {.value = 9}}},
      Neighbors{.k = 1, .points = {0, 0, 4, 1}, .labels = {5, 6}},
      SupportVectors{.gamma = 0.25, .bias = 2, .vectors = {1, 1, 2, 0}, .coefficients = {3, -1}}};
  for (const Formula& formula : formulas) {
    Predictor shifted{.limits = {}, .scale = {}, .formula = formula};
    ASSERT_TRUE(Check(shifted, 2));
    ASSERT_TRUE(ShiftFeatures(kShift, shifted));
    for (const double y : {3.5, 3.699, 3.701, 8.0})
      EXPECT_NEAR(Watts(shifted.formula, 1.5, y), Watts(formula, 3.5, y - 3), 1e-9) << formula.index() << " " << y;
  }
}

/// A row on the threshold stays on its side.
TEST(ShiftFeatures, Thresholds_AreRoundedUp) {
  const float above_half = 0.50000006F;  // the next float
  Predictor trees{
      .limits = {},
      .scale = {},
      .formula = Trees{.roots = {0}, .nodes = {{.value = above_half, .left = 1, .right = 2}, {.value = 1}, {}}}};
  ASSERT_TRUE(ShiftFeatures(std::array{-2.0}, trees));
  EXPECT_EQ(Predict(trees, std::array{2.5}), 1);
  EXPECT_EQ(Predict(trees, std::array{2.500001}), 0);
}

TEST(ShiftFeatures, CurvesAndBlends_AreRefused) {
  Predictor curve{.limits = {}, .scale = {}, .formula = Curve()};
  EXPECT_FALSE(ShiftFeatures(kShift, curve));
  Predictor blend{.limits = {}, .scale = {}, .formula = Blend()};
  EXPECT_FALSE(ShiftFeatures(kShift, blend));
}

}  // namespace
}  // namespace kepler::model
