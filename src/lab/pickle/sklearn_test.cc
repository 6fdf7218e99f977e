// Attributes as ReadPickle() returns them. Whole files are in lab/files/server_archive_test.cc.
#include "lab/pickle/sklearn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
TEST(Sklearn, Scalers_ComeBeforeTheFormula) {
  EXPECT_EQ(WattsOf(ReadWith({}, kLinear), {10, 20}), 81);
  EXPECT_EQ(WattsOf(ReadWith({kMaxAbs}, kLinear), {10, 20}), 1 + 2 * 5 + 3 * 5);
  EXPECT_EQ(WattsOf(ReadWith({kMinMax}, kLinear), {10, 20}), 1 + 2 * (5 + 1) + 3 * (5 - 2));
  EXPECT_EQ(WattsOf(ReadWith({kStandard}, kLinear), {10, 20}), 1 + 2 * 2 + 3 * 3);
  EXPECT_EQ(WattsOf(ReadWith({kMinMax, kStandard}, kLinear), {10, 20}), 1 + 2 * 0 + 3 * -1.25);
  std::string without_mean = kStandard;
  without_mean.replace(without_mean.find("n\":1"), 4, "n\":0");
  EXPECT_EQ(WattsOf(ReadWith({without_mean}, kLinear), {10, 20}), 1 + 2 * 5 + 3 * 5);
}

TEST(Sklearn, Polynomials_HaveTheOrderOfTheirTerms) {
  const std::string terms = R"({"class":"s.LinearRegression","coef_":[100,1,2,3,4,5],"intercept_":[0.5]})";
  const auto expected = [](double x, double y) { return 100.5 + x + 2 * y + 3 * x * x + 4 * x * y + 5 * y * y; };
  EXPECT_EQ(WattsOf(ReadWith({kProducts}, terms), {2, 3}), expected(2, 3));
  EXPECT_EQ(WattsOf(ReadWith({kMinMax, kProducts}, terms), {2, 20}), expected(2, 3));
  EXPECT_THAT(WhyNot(ReadWith({kProducts}, kLinear)), HasSubstr("2 weights instead of 6"));
  EXPECT_THAT(WhyNot(ReadWith({kProducts, kMaxAbs}, terms)), HasSubstr("a step after PolynomialFeatures"));
  std::string cubic = kProducts;
  cubic.replace(cubic.find(":2"), 2, ":3");
  EXPECT_THAT(WhyNot(ReadWith({cubic}, terms)), HasSubstr("degree: only polynomials of degree 2"));
}

TEST(Sklearn, WhatIsMissingOrDoesNotFit_IsNamed) {
  EXPECT_THAT(WhyNot(ReadWith({}, "{}")), HasSubstr("class"));
  EXPECT_THAT(WhyNot(ReadWith({}, kMaxAbs)), HasSubstr("MaxAbsScaler is not a supported model"));
  EXPECT_THAT(WhyNot(ReadWith({kLinear}, kLinear)), HasSubstr("scale_"));
  EXPECT_THAT(WhyNot(ReadWith({kMaxAbs}, kLinear, 3)), HasSubstr("scale_: 2 numbers for 3 features"));
  EXPECT_THAT(WhyNot(ReadWith({}, kLinear, 3)), HasSubstr("2 weights instead of 3"));
}

}  // namespace
}  // namespace kepler::lab::pickle
