// Attributes as ReadPickle() returns them. Whole files are in lab/files/server_archive_test.cc.
#include "lab/pickle/sklearn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace kepler::lab::pickle {
namespace {

using ::testing::HasSubstr;

Result<model::Predictor> ReadWith(const std::vector<std::string>& step_texts, const std::string& text,
                                  size_t features = 2) {
  std::vector<json::Value> values;
  for (const std::string& step : step_texts) values.push_back(json::Parse(step).value());
  KEPLER_TRY(const Steps steps, ReadSteps(values, features));
  return ReadEstimator(json::Parse(text).value(), steps);
}

double WattsOf(const Result<model::Predictor>& predictor, const std::vector<double>& row) {
  if (!predictor) ADD_FAILURE() << predictor.error().message;
  return predictor ? model::Predict(*predictor, row) : 0;
}

std::string WhyNot(const Result<model::Predictor>& predictor) { return predictor ? "" : predictor.error().message; }

constexpr char kLinear[] = R"({"class":"sklearn.linear_model._base.LinearRegression","coef_":[2,3],"intercept_":1})";
constexpr char kMaxAbs[] = R"({"class":"s.MaxAbsScaler","scale_":[2,4]})";
constexpr char kMinMax[] = R"({"class":"s.MinMaxScaler","scale_":[0.5,0.25],"min_":[1,-2]})";
constexpr char kStandard[] = R"({"class":"s.StandardScaler","with_mean":1,"scale_":[2,4],"mean_":[6,8]})";
constexpr char kProducts[] = R"({"class":"s.PolynomialFeatures","degree":2,"interaction_only":0,"include_bias":1})";
constexpr char kTree[] =
    R"({"tree_":{"nodes":{"left_child":[1,-1,-1],"right_child":[2,-1,-1],"feature":[1,-2,-2],"threshold":[0.5,-2,-2]},)"
    R"("values":[0,10,20]}})";

std::string Boosting(const std::string& trees) {
  return R"({"class":"s.GradientBoostingRegressor","init_":{"constant_":[5]},"learning_rate":0.5,"estimators_":[)" +
         trees + "]}";
}

TEST(Sklearn, Scalers_ComeBeforeTheFormula) {
  EXPECT_EQ(WattsOf(ReadWith({}, kLinear), {10, 20}), 81);
  EXPECT_EQ(WattsOf(ReadWith({kMaxAbs}, kLinear), {10, 20}), 1 + 2 * 5 + 3 * 5);
  EXPECT_EQ(WattsOf(ReadWith({kMinMax}, kLinear), {10, 20}), 1 + 2 * (5 + 1) + 3 * (5 - 2));
  EXPECT_EQ(WattsOf(ReadWith({kStandard}, kLinear), {10, 20}), 1 + 2 * 2 + 3 * 3);
  EXPECT_EQ(WattsOf(ReadWith({kMinMax, kStandard}, kLinear), {10, 20}), 1 + 2 * 0 + 3 * -1.25);
  std::string clipped = kMinMax;
  clipped.insert(clipped.size() - 1, R"(,"clip":0)");
  EXPECT_EQ(WattsOf(ReadWith({clipped}, kLinear), {10, 20}), 1 + 2 * (5 + 1) + 3 * (5 - 2));
  clipped.replace(clipped.size() - 2, 1, "1");
  EXPECT_THAT(WhyNot(ReadWith({clipped}, kLinear)), HasSubstr("clip: limits of features are not supported"));
  std::string without_mean = kStandard;
  without_mean.replace(without_mean.find("n\":1"), 4, "n\":0");
  EXPECT_EQ(WattsOf(ReadWith({without_mean}, kLinear), {10, 20}), 1 + 2 * 5 + 3 * 5);
}

/// Each with the rows x ÷ 2 + 1, x ÷ 4 − 2, against the formula of prepared rows.
TEST(Sklearn, EveryFormula_TakesShiftedRows) {
  const std::string formulas[] = {
      Boosting(kTree),
      R"({"class":"s.KNeighborsRegressor","weights":"uniform","effective_metric_":"euclidean","n_neighbors":1,)"
      R"("_fit_X":[0,0,3,1],"_y":[7,9]})",
      R"({"class":"s.SVR","kernel":"rbf","_gamma":0.5,"_intercept_":[3],"support_vectors_":[1,1,2,0],"_dual_coef_":[4,-1]})"};
  for (const std::string& formula : formulas)
    for (const auto& [x, y] : {std::pair{0.0, 8.0}, {4.0, 12.0}, {4.0, 10.0}})
      EXPECT_NEAR(WattsOf(ReadWith({kMinMax}, formula), {x, y}), WattsOf(ReadWith({}, formula), {x / 2 + 1, y / 4 - 2}),
                  1e-12);
}

TEST(Sklearn, Polynomials_HaveTheOrderOfTheirTerms) {
  const std::string terms = R"({"class":"s.LinearRegression","coef_":[100,1,2,3,4,5],"intercept_":[0.5]})";
  const auto expected = [](double x, double y) { return 100.5 + x + 2 * y + 3 * x * x + 4 * x * y + 5 * y * y; };
  EXPECT_EQ(WattsOf(ReadWith({kProducts}, terms), {2, 3}), expected(2, 3));
  EXPECT_EQ(WattsOf(ReadWith({kMinMax, kProducts}, terms), {2, 20}), expected(2, 3));
  EXPECT_THAT(WhyNot(ReadWith({kProducts}, kLinear)), HasSubstr("2 weights instead of 6"));
  EXPECT_THAT(WhyNot(ReadWith({kProducts, kMaxAbs}, terms)), HasSubstr("a step after PolynomialFeatures"));
  EXPECT_THAT(WhyNot(ReadWith({kProducts}, Boosting(kTree))), HasSubstr("before linear models only"));
  std::string cubic = kProducts;
  cubic.replace(cubic.find(":2"), 2, ":3");
  EXPECT_THAT(WhyNot(ReadWith({cubic}, terms)), HasSubstr("degree: only polynomials of degree 2"));
}

/// Left if float(x) <= threshold.
TEST(Sklearn, Trees_SplitWhereScikitLearnDoes) {
  const auto trees = ReadWith({}, Boosting(std::string(kTree) + "," + kTree));
  EXPECT_EQ(WattsOf(trees, {9, 0.5}), 5 + 2 * 0.5 * 10);
  EXPECT_EQ(WattsOf(trees, {9, 0.50001}), 5 + 2 * 0.5 * 20);
}

TEST(Sklearn, Curves_AreOfTheirFeature) {
  const std::string curve = R"({"class":"t.CurveFitModel","fit_func":"t.log_func","popt":[2,3,4],"feature_index":1})";
  EXPECT_NEAR(WattsOf(ReadWith({kMaxAbs}, curve), {0, 8}), 2 * std::log(3 * 2 + 1) + 4, 1e-12);
  EXPECT_THAT(WhyNot(ReadWith({kMinMax}, curve)), HasSubstr("features of this formula cannot be shifted"));
  EXPECT_THAT(
      WhyNot(ReadWith({}, R"({"class":"t.CurveFitModel","fit_func":"t.logi_func","popt":[2],"feature_index":1})")),
      HasSubstr("popt: 1 numbers do not fit t.logi_func"));
}

TEST(Sklearn, WhatIsMissingOrDoesNotFit_IsNamed) {
  EXPECT_THAT(WhyNot(ReadWith({}, R"({"class":"s.SVR"})")), HasSubstr("kernel"));
  EXPECT_THAT(WhyNot(ReadWith({}, "{}")), HasSubstr("class"));
  EXPECT_THAT(WhyNot(ReadWith({}, kMaxAbs)), HasSubstr("MaxAbsScaler is not a supported model"));
  EXPECT_THAT(WhyNot(ReadWith({kLinear}, kLinear)), HasSubstr("scale_"));
  EXPECT_THAT(WhyNot(ReadWith({kMaxAbs}, kLinear, 3)), HasSubstr("scale_: 2 numbers for 3 features"));
  EXPECT_THAT(WhyNot(ReadWith({}, kLinear, 3)), HasSubstr("2 weights instead of 3"));
  for (const auto& [from, to] : {std::pair{"[2,-1,-1]", "[2,-1]"},
                                 {"[2,-1,-1]", "[-7,-1,-1]"},
                                 {"[1,-1,-1]", "[9e9,-1,-1]"},
                                 {"[1,-2,-2]", "[70000,-2,-2]"},
                                 {"[1,-2,-2]", "[5,-2,-2]"},
                                 {"[0,10,20]", "[0,10]"}}) {
    std::string tree = kTree;
    tree.replace(tree.find(from), std::string_view(from).size(), to);
    EXPECT_NE(WhyNot(ReadWith({}, Boosting(tree))), "") << tree;
  }
}

}  // namespace
}  // namespace kepler::lab::pickle
