#include "model/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/features.h"
#include "model/predictor_test_util.h"

namespace kepler::model {
namespace {

using ::testing::HasSubstr;
using Row = std::vector<double>;

double WattsOf(const Predictor& predictor, const Row& row) {
  const auto status = Check(predictor, row.size());
  EXPECT_TRUE(status) << status.error().message;
  return Predict(predictor, row);
}

template <class Formula>
double WattsOf(Formula formula, const Row& row) {
  return WattsOf(Of(std::move(formula)), row);
}

// The values of Kepler 0.7's own tests: bias 1 and a category's 1, scale 2, weight 1; all ones for the curves, with 1
// for the category here in the last weight.
TEST(Linear, ScaleAndBias) {
  auto predictor = Of(Linear{.bias = 2, .weights = {1}});
  predictor.scale = {2};
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {2}), 3.0);
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {1}), 2.5);
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {0}), 2.0);
}

TEST(Linear, PublishedNodeModel) {
  auto predictor = Of(Linear{.bias = 143.812, .weights = {305.148, 7}});
  predictor.scale = {95877, 0};  // a scale of 0: the feature was 0 in all of the training
  EXPECT_NEAR(WattsOf(predictor, {95877, 12345}), 143.812 + 305.148, 1e-9);
}

TEST(Curve, AllOnes) {
  using enum Curve::Shape;
  EXPECT_NEAR(WattsOf(Curve{kExponential, 0, {1, 1, 2}}, {1}), std::exp(1.0) + 2, 1e-9);
  EXPECT_NEAR(WattsOf(Curve{kExponential, 0, {1, 1, 2}}, {1}), 4.718281828459045, 1e-9);
  EXPECT_NEAR(WattsOf(Curve{kLogarithmic, 0, {1, 1, 2}}, {1}), 2.693147180559945, 1e-9);
  EXPECT_NEAR(WattsOf(Curve{kLogistic, 0, {1, 1, 1, 2}}, {1}), 2.5, 1e-9);
}

TEST(Curve, EveryWeightHasItsPlace) {
  using enum Curve::Shape;
  const Row row = {-7, 0.5};
  EXPECT_NEAR(WattsOf(Curve{kExponential, 1, {2, 3, 5}}, row), 2 * std::exp(1.5) + 5, 1e-9);
  EXPECT_NEAR(WattsOf(Curve{kLogarithmic, 1, {2, 3, 5}}, row), 2 * std::log(2.5) + 5, 1e-9);
  EXPECT_NEAR(WattsOf(Curve{kLogistic, 1, {2, 0.25, 4, 5}}, row), 2 / (1 + std::exp(-1.0)) + 5, 1e-9);
}

TEST(Polynomial, ProductsInScikitLearnsOrder) {
  // 1, a, b, c, aa, ab, ac, bb, bc, cc
  const Polynomial formula{.bias = 1, .weights = {2, 3, 4}, .products = {10, 20, 30, 40, 50, 60}};
  EXPECT_DOUBLE_EQ(WattsOf(formula, {1, 0, 0}), 1 + 2 + 10);
  EXPECT_DOUBLE_EQ(WattsOf(formula, {0, 1, 0}), 1 + 3 + 40);
  EXPECT_DOUBLE_EQ(WattsOf(formula, {0, 0, 1}), 1 + 4 + 60);
  EXPECT_DOUBLE_EQ(WattsOf(formula, {2, 5, 7}), 1 + 4 + 15 + 28 + 40 + 200 + 420 + 1000 + 1750 + 2940);
}

TEST(Trees, LessGoesLeft) {
  EXPECT_EQ(WattsOf(TwoLevels(), {1, 1}), 110);
  EXPECT_EQ(WattsOf(TwoLevels(), {1, 2}), 120);
  EXPECT_EQ(WattsOf(TwoLevels(), {1.5, 1}), 130);
  EXPECT_EQ(WattsOf(TwoLevels(), {-kInfinity, kInfinity}), 120);
}

TEST(Trees, ComparesAsFloat) {
  const double just_below = std::nextafter(1.5, 0.0);  // 1.5 as a float
  EXPECT_EQ(WattsOf(TwoLevels(), {just_below, 1}), 130);
  EXPECT_EQ(WattsOf(TwoLevels(), {double{std::nextafter(1.5F, 0.0F)}, 1}), 110);
}

TEST(Trees, MissingGoesWhereTheNodeSays) { EXPECT_EQ(WattsOf(TwoLevels(), {kNone, kNone}), 120); }

TEST(Trees, LeavesAreAddedAsFloatsInOrder) {
  Trees trees;
  trees.base = 300;
  for (uint32_t i = 0; i < 100; ++i) {
    trees.roots.push_back(i);
    trees.nodes.push_back({.value = 1e-5F});  // less than half of what a float of 300 can tell
  }
  EXPECT_EQ(WattsOf(trees, {0}), 300);
  trees.base = 0;
  trees.nodes.back().value = 300;
  EXPECT_GT(WattsOf(trees, {0}), 300);
}

TEST(Trees, NoTreeIsTheBase) { EXPECT_EQ(WattsOf(Trees{.base = 2.5F, .roots = {}, .nodes = {}}, {1}), 2.5); }

TEST(Neighbors, MeanOfTheNearest) {
  const Neighbors formula{.k = 2, .points = {0, 0, 3, 4, 10, 10, 1, 1}, .labels = {10, 20, 1000, 30}};
  EXPECT_DOUBLE_EQ(WattsOf(formula, {0.9, 0.9}), 20);
  EXPECT_DOUBLE_EQ(WattsOf(formula, {3, 3}), 25);
}

TEST(Neighbors, EquallyFar_TheEarlierRow) {
  const Neighbors one{.k = 1, .points = {1, -1, 1}, .labels = {10, 20, 30}};
  EXPECT_EQ(WattsOf(one, {0}), 10);
  EXPECT_EQ(WattsOf(one, {-0.0}), 10);
  const Neighbors two{.k = 2, .points = {2, -1, 1, 1}, .labels = {10, 20, 30, 40}};
  EXPECT_EQ(WattsOf(two, {0}), 25);
}

TEST(Neighbors, AllRows) {
  const Neighbors formula{.k = 3, .points = {3, 2, 1}, .labels = {1, 2, 6}};
  EXPECT_EQ(WattsOf(formula, {1e9}), 3);
}

TEST(SupportVectors, RadialKernel) {
  const SupportVectors formula{.gamma = 0.5, .bias = 7, .vectors = {0, 0, 1, 2}, .coefficients = {3, -2}};
  EXPECT_NEAR(WattsOf(formula, {1, 0}), 7 + 3 * std::exp(-0.5) - 2 * std::exp(-2.0), 1e-9);
  EXPECT_NEAR(WattsOf(formula, {1e6, 1e6}), 7, 1e-9);
}

TEST(Blend, PartsHaveTheirOwnScales) {
  auto scaled = Of(Linear{.bias = 0, .weights = {10}});
  scaled.scale = {4};
  Blend blend;
  blend.weights = {0.25, 0.75};
  blend.parts = {scaled, Of(Linear{.bias = 1, .weights = {1}})};
  auto predictor = Of(blend);
  predictor.limits = {{0, 8}};
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {8}), 0.25 * 20 + 0.75 * 9);
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {100}), 0.25 * 20 + 0.75 * 9);
}

TEST(Predict, LimitsComeBeforeTheScale) {
  auto predictor = Of(Linear{.bias = 0, .weights = {1, 100}});
  predictor.limits = {{2, 10}, {0, 1}};
  predictor.scale = {2, 1};
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {0, 0.5}), 51);
  EXPECT_DOUBLE_EQ(WattsOf(predictor, {50, -3}), 5);
}

TEST(Predict, Missing_IsNoNumberButInTrees) {
  auto linear = Of(Linear{.bias = 1, .weights = {1, 1}});
  linear.limits = {{0, 1}, {0, 1}};
  EXPECT_TRUE(std::isnan(WattsOf(linear, {kNone, 0})));
  EXPECT_TRUE(std::isnan(WattsOf(Polynomial{.bias = 1, .weights = {1}, .products = {1}}, {kNone})));
  EXPECT_TRUE(std::isnan(WattsOf(Neighbors{.k = 1, .points = {1, 2}, .labels = {5}}, {1, kNone})));
  EXPECT_TRUE(std::isnan(WattsOf(SupportVectors{.gamma = 1, .bias = 0, .vectors = {1}, .coefficients = {1}}, {kNone})));
  EXPECT_FALSE(std::isnan(WattsOf(Curve{Curve::Shape::kExponential, 0, {1, 1, 1}}, {1, kNone})));
}

RC_GTEST_PROP(Neighbors, AnyPoints_SameAsSortingThem, ()) {
  const auto rows = *rc::gen::inRange<size_t>(1, 100);
  const auto k = *rc::gen::inRange<size_t>(1, std::min(rows, kMaxNeighbors) + 1);
  Neighbors formula{.k = static_cast<uint32_t>(k), .points = {}, .labels = {}};
  std::vector<std::pair<double, size_t>> byDistance;
  for (size_t i = 0; i < rows; ++i) {
    const double x = *rc::gen::inRange(-5, 6);
    formula.points.push_back(x);
    formula.labels.push_back(*rc::gen::inRange(0, 1000));
    byDistance.emplace_back(x * x, i);
  }
  std::ranges::sort(byDistance);
  double sum = 0;
  for (size_t i = 0; i < k; ++i) sum += formula.labels[byDistance[i].second];
  RC_ASSERT(Predict(Of(formula), Row{0}) == sum / static_cast<double>(k));
}

RC_GTEST_PROP(Blend, AnyWeights_BetweenItsParts, ()) {
  const double weight = *rc::gen::inRange(0, 1001) / 1000.0;
  const double a = *rc::gen::inRange(-1000, 1000);
  const double b = *rc::gen::inRange(-1000, 1000);
  Blend blend;
  blend.weights = {weight, 1 - weight};
  blend.parts = {Of(Linear{.bias = a, .weights = {0}}), Of(Linear{.bias = b, .weights = {0}})};
  const double watts = WattsOf(blend, {1});
  RC_ASSERT(watts >= std::min(a, b) - 1e-9 && watts <= std::max(a, b) + 1e-9);
}

}  // namespace
}  // namespace kepler::model
