// What each trainer computes: against values by hand, and on real data against what other implementations reach.
#include "lab/training/fits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>

#include "model/predictor.h"

namespace kepler::lab::training {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Fitter = Result<model::Predictor> (*)(const Samples&, const TrainerOptions&);

Samples Rows(size_t columns, std::vector<double> values, std::vector<double> labels) {
  return {.features = {.columns = columns, .values = std::move(values)}, .labels = std::move(labels), .groups = {}};
}
model::Predictor Fitted(Fitter fit, const Samples& samples,
                        std::map<std::string, double, std::less<>> parameters = {}) {
  auto predictor = fit(samples, {.parameters = std::move(parameters), .seed = 1});
  EXPECT_TRUE(predictor) << predictor.error().message;
  return predictor ? *std::move(predictor) : model::Predictor{};
}
double At(const model::Predictor& predictor, std::vector<double> row) { return model::Predict(predictor, row); }

/// Of features as they are, not scaled.
std::vector<double> SlopesOf(const model::Predictor& predictor) {
  const auto& linear = std::get<model::Linear>(predictor.formula);
  std::vector<double> slopes;
  for (size_t i = 0; i < linear.weights.size(); ++i)
    slopes.push_back(predictor.scale[i] == 0 ? 0 : linear.weights[i] / predictor.scale[i]);
  return slopes;
}

/// 31 rows of one feature from 0 to 30 through `power`.
Samples Through(double (*power)(double)) {
  Samples samples = Rows(1, {}, {});
  for (int i = 0; i <= 30; ++i) {
    samples.features.values.push_back(i);
    samples.labels.push_back(power(i));
  }
  return samples;
}

TEST(Linear, PlaneWithIntercept_IsFoundExactly) {
  // 7 + 2x - 3y
  const auto predictor = Fitted(FitLinear, Rows(2, {0, 0, 1, 0, 0, 1, 4, 5}, {7, 9, 4, 0}));
  EXPECT_NEAR(std::get<model::Linear>(predictor.formula).bias, 7, 1e-12);
  EXPECT_THAT(SlopesOf(predictor), ElementsAre(DoubleNear(2, 1e-12), DoubleNear(-3, 1e-12)));
}

TEST(Linear, ErrorsAreBalanced_AsByHand) {
  // Of (1,1), (2,2), (3,2): slope 1/2, intercept 2/3.
  const auto predictor = Fitted(FitLinear, Rows(1, {1, 2, 3}, {1, 2, 2}));
  EXPECT_NEAR(At(predictor, {0}), 2.0 / 3, 1e-12);
  EXPECT_NEAR(At(predictor, {2}), 2.0 / 3 + 1, 1e-12);
}

TEST(Linear, ColumnsThatSayTheSame_ShareTheWeight) {
  const auto predictor = Fitted(FitLinear, Rows(3, {1, 1, 9, 2, 2, 9, 3, 3, 9, 4, 4, 9}, {12, 14, 16, 18}));
  EXPECT_THAT(SlopesOf(predictor), ElementsAre(DoubleNear(1, 1e-9), DoubleNear(1, 1e-9), 0));
  EXPECT_NEAR(At(predictor, {10, 10, 9}), 30, 1e-9);
}

TEST(Linear, SmallStepsOnALargeValue_AreSeen) {
  const auto predictor = Fitted(FitLinear, Rows(1, {1e12, 1e12 + 1, 1e12 + 2, 1e12 + 3}, {5, 7, 9, 11}));
  EXPECT_NEAR(At(predictor, {1e12 + 1.5}), 8, 0.01);
}

TEST(NonNegative, WeightThatWouldBeNegative_IsZero) {
  // Least squares has 7 + 2x - 3y. Of x alone: Σ(x - 5/4)(label - 5) = -16, so that falls too: the mean is left.
  const Samples samples = Rows(2, {0, 0, 1, 0, 0, 1, 4, 5}, {7, 9, 4, 0});
  EXPECT_THAT(SlopesOf(Fitted(FitNonNegative, samples)), ElementsAre(0, 0));
  EXPECT_NEAR(At(Fitted(FitNonNegative, samples), {3, 3}), 5, 1e-12);
}

TEST(NonNegative, IsLeastSquaresWhereThatIsPositive) {
  const Samples samples = Rows(2, {0, 0, 1, 0, 0, 1, 4, 5, 2, 2}, {7, 9, 10.5, 31, 16});
  const auto bound = Fitted(FitNonNegative, samples);
  const auto free = Fitted(FitLinear, samples);
  EXPECT_NEAR(At(bound, {3, 9}), At(free, {3, 9}), 1e-9);
}

TEST(NonNegative, InterceptMayBeNegative) {
  EXPECT_NEAR(At(Fitted(FitNonNegative, Rows(1, {1, 2, 3}, {-8, -6, -4})), {0}), -10, 1e-9);
}

TEST(Ridge, OneFeature_AsByHand) {
  // Scaled x: -1, 0, 1; slope = Σxy / (Σx² + alpha) = 4 / (2 + 2).
  const auto predictor = Fitted(FitRidge, Rows(1, {-1, 0, 1}, {3, 5, 7}), {{"alpha", 2}});
  EXPECT_THAT(SlopesOf(predictor), ElementsAre(DoubleNear(1, 1e-12)));
  EXPECT_NEAR(At(predictor, {0}), 5, 1e-12);
}

TEST(Ridge, WithoutPenalty_IsLeastSquares) {
  const Samples samples = Rows(2, {0, 0, 1, 0, 0, 1, 4, 5, 2, 2}, {7, 9, 10.5, 31, 16});
  EXPECT_NEAR(At(Fitted(FitRidge, samples, {{"alpha", 0}}), {3, 9}), At(Fitted(FitLinear, samples), {3, 9}), 1e-9);
}

TEST(Sgd, ComesNearLeastSquares) {
  Samples samples = Rows(2, {}, {});
  for (int i = 0; i < 500; ++i) {
    const double x = i % 50;
    const double y = i % 7;
    samples.features.values.insert(samples.features.values.end(), {x * 1e9, y * 1e3});
    samples.labels.push_back(40 + 2 * x + 5 * y);
  }
  const auto predictor = Fitted(FitSgd, samples);
  EXPECT_NEAR(At(predictor, {25e9, 3e3}), 40 + 50 + 15, 0.5);
  const auto other = FitSgd(samples, {.parameters = {}, .seed = 2});
  ASSERT_TRUE(other);
  EXPECT_NE(*other, predictor) << "the seed shuffles";
}

TEST(Sgd, RateThatIsTooLarge_IsRefused) {
  Samples samples = Rows(64, std::vector<double>(64 * 20, 1.0), std::vector<double>(20, 100));
  samples.labels[3] = 200;
  const auto fit = FitSgd(samples, {.parameters = {{"eta0", 1}, {"power_t", 0}}, .seed = 1});
  ASSERT_FALSE(fit);
  EXPECT_THAT(fit.error().message, HasSubstr("smaller eta0"));
}

TEST(Polynomial, SquareAndProduct_AreFound) {
  Samples samples = Rows(2, {}, {});
  for (int x = 0; x < 8; ++x) {
    for (int y = 0; y < 8; ++y) {
      samples.features.values.insert(samples.features.values.end(), {x * 1e9, y * 1.0});
      samples.labels.push_back(10 + x + 2 * y + 0.5 * x * x + 3 * x * y);
    }
  }
  const auto predictor = Fitted(FitPolynomial, samples, {{"alpha", 1e-9}});
  EXPECT_NEAR(At(predictor, {3e9, 5}), 10 + 3 + 10 + 4.5 + 45, 1e-6);
  EXPECT_EQ(At(predictor, {70e9, 5}), At(predictor, {7e9, 5})) << "held at the border of training";
}

TEST(Polynomial, TermsThatSayTheSame_DoNotExplode) {
  const auto predictor = Fitted(FitPolynomial, Rows(2, {1, 2, 2, 4, 3, 6, 4, 8, 5, 10}, {10, 21, 29, 41, 50}));
  const auto& formula = std::get<model::Polynomial>(predictor.formula);
  for (const double weight : formula.weights) EXPECT_LT(std::abs(weight), 200);
  for (const double weight : formula.products) EXPECT_LT(std::abs(weight), 200);
  EXPECT_NEAR(At(predictor, {3, 6}), 30, 3);
}

TEST(Curves, TheirOwnFormula_IsFound) {
  const auto exponential = Fitted(FitExponential, Through([](double x) { return 3 * std::exp(0.1 * x) + 40; }));
  EXPECT_NEAR(At(exponential, {20}), 3 * std::exp(2) + 40, 1e-4);
  const auto logarithmic = Fitted(FitLogarithmic, Through([](double x) { return 25 * std::log(2 * x + 1) + 40; }));
  EXPECT_NEAR(At(logarithmic, {20}), 25 * std::log(41) + 40, 1e-4);
  const auto logistic =
      Fitted(FitLogistic, Through([](double x) { return 90 / (1 + std::exp(-0.4 * (x - 12))) + 30; }));
  EXPECT_NEAR(At(logistic, {20}), 90 / (1 + std::exp(-3.2)) + 30, 1e-4);
}

TEST(Curves, BeyondTraining_StayAtTheBorder) {
  for (const Fitter fit : {FitExponential, FitLogarithmic, FitLogistic}) {
    const auto predictor = Fitted(fit, Through([](double x) { return 40 + 2 * x + 0.05 * x * x; }));
    EXPECT_EQ(At(predictor, {1e6}), At(predictor, {30}));
    EXPECT_EQ(At(predictor, {-5}), At(predictor, {0}));
  }
}

TEST(Curves, FeatureThatExplainsMost_IsTaken) {
  Samples samples = Rows(3, {}, {});
  for (int i = 0; i < 60; ++i) {
    samples.features.values.insert(samples.features.values.end(), {(i * 37 % 60) * 1.0, i * 1e9, 5});
    samples.labels.push_back(30 + 20 * std::log(1 + i));
  }
  for (const Fitter fit : {FitExponential, FitLogarithmic, FitLogistic}) {
    EXPECT_EQ(std::get<model::Curve>(Fitted(fit, samples).formula).feature, 1U);
    EXPECT_EQ(std::get<model::Curve>(Fitted(fit, samples, {{"feature", 0}}).formula).feature, 0U);
    const auto beyond = fit(samples, {.parameters = {{"feature", 3}}, .seed = 0});
    ASSERT_FALSE(beyond);
    EXPECT_THAT(beyond.error().message, HasSubstr("feature 3 does not exist: there are 3"));
  }
}

TEST(Curves, FeatureThatSaysNothing_GivesTheMean) {
  for (const Fitter fit : {FitExponential, FitLogarithmic, FitLogistic})
    EXPECT_NEAR(At(Fitted(fit, Rows(1, {3, 3, 3, 3}, {10, 20, 30, 40})), {3}), 25, 1e-12);
}

TEST(Neighbors, MeanOfTheNearest_ByScaledDistance) {
  const Samples samples = Rows(2, {0, 0, 1e9, 0, 0, 10, 1e9, 10}, {10, 20, 30, 40});
  EXPECT_EQ(At(Fitted(FitNeighbors, samples, {{"k", 1}}), {0.9e9, 4}), 20);
  EXPECT_EQ(At(Fitted(FitNeighbors, samples, {{"k", 2}}), {0.9e9, 4}), 30) << "20 and 40: 0.4 and 0.6 away";
  EXPECT_EQ(At(Fitted(FitNeighbors, samples), {0, 0}), 25) << "all four, of six";
}

TEST(SupportVectors, FollowACurveWithinEpsilon) {
  const Samples samples = Through([](double x) { return 100 + 40 * std::sin(x / 5); });
  const auto predictor = Fitted(FitSupportVectors, samples, {{"C", 1000}, {"epsilon", 0.5}});
  for (double x = 0; x <= 30; x += 1) EXPECT_NEAR(At(predictor, {x}), 100 + 40 * std::sin(x / 5), 0.6);
}

TEST(SupportVectors, Coefficients_AreBoundByCAndSumToZero) {
  const auto predictor = Fitted(FitSupportVectors, Through([](double x) { return 50 + 5 * x; }));
  const auto& formula = std::get<model::SupportVectors>(predictor.formula);
  double sum = 0;
  for (const double coefficient : formula.coefficients) sum += coefficient;
  EXPECT_NEAR(sum, 0, 1e-9);
  EXPECT_THAT(formula.coefficients, Each(::testing::AllOf(::testing::Ge(-1.0), ::testing::Le(1.0))));
  // Of 0, 1/30 ... 1 the variance is (31² - 1) / 12 / 30².
  EXPECT_NEAR(formula.gamma, 1 / (960.0 / 12 / 900), 1e-9);
}

TEST(Parameters, OutOfBounds_AreRefusedWithTheirBounds) {
  const Samples samples = Rows(1, {1, 2, 3}, {1, 2, 3});
  const auto refusal = [&](Fitter fit, std::string name, double value) {
    const auto result = fit(samples, {.parameters = {{std::move(name), value}}, .seed = 0});
    return result ? "no error" : result.error().message;
  };
  EXPECT_THAT(refusal(FitRidge, "alpha", -1), HasSubstr("'alpha' is -1"));
  EXPECT_THAT(refusal(FitNeighbors, "k", 0), HasSubstr("whole number from 1"));
  EXPECT_THAT(refusal(FitNeighbors, "k", 2.5), HasSubstr("whole number"));
  EXPECT_THAT(refusal(FitSupportVectors, "C", std::nan("")), HasSubstr("'C'"));
  EXPECT_THAT(refusal(FitSupportVectors, "c", 1), HasSubstr("known, with defaults: C=1, epsilon=0.2, gamma=0"));
  EXPECT_THAT(refusal(FitLinear, "alpha", 1), HasSubstr("known, with defaults: none"));
}

}  // namespace
}  // namespace kepler::lab::training
