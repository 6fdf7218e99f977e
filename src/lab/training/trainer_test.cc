// What every trainer must do, whatever it fits: each test runs for each of Trainers().
#include "lab/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <sstream>
#include <string>

#include "lab/training/validation.h"
#include "model/predictor.h"

namespace kepler::lab::training {

void PrintTo(const Trainer& trainer, std::ostream* out) { *out << trainer.name; }

namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Samples Of(size_t columns, std::vector<double> values, std::vector<double> labels) {
  return {.features = {.columns = columns, .values = std::move(values)}, .labels = std::move(labels), .groups = {}};
}

/// A node of two features at loads that change slowly: 50 W idle, 100 W more at full load.
Samples Node(size_t rows) {
  Samples samples = Of(2, {}, {});
  std::mt19937_64 random(7);
  for (size_t i = 0; i < rows; ++i) {
    const double load = 0.5 + 0.5 * std::sin(static_cast<double>(i) / 10);
    const double misses = static_cast<double>(random() % 1000) / 1000;
    samples.features.values.insert(samples.features.values.end(), {load * 3e10, misses * 1e6});
    samples.labels.push_back(50 + 90 * load + 10 * misses);
  }
  return samples;
}

double PredictRow(const model::Predictor& predictor, std::vector<double> row) { return model::Predict(predictor, row); }

class EveryTrainer : public ::testing::TestWithParam<Trainer> {
 protected:
  /// A predictor that passes Check() and is finite on its own rows, or an error that names the samples as its cause.
  static void ExpectPredictorOrReason(const Samples& samples, const std::string& what) {
    const auto fit = GetParam().fit(samples, {});
    if (!fit) {
      EXPECT_EQ(fit.error().kind, ErrorKind::kInvalid) << what;
      EXPECT_GT(fit.error().message.size(), 10U) << what;
      return;
    }
    const auto status = model::Check(*fit, samples.features.columns);
    EXPECT_TRUE(status) << what << ": " << status.error().message;
    for (size_t i = 0; i < samples.features.rows(); ++i)
      EXPECT_TRUE(std::isfinite(model::Predict(*fit, samples.features.row(i)))) << what << ", row " << i;
    EXPECT_TRUE(std::isfinite(PredictRow(*fit, std::vector<double>(samples.features.columns, 0)))) << what;
  }
  static model::Predictor Fit(const Samples& samples, const TrainerOptions& options = {}) {
    auto fit = GetParam().fit(samples, options);
    EXPECT_TRUE(fit) << fit.error().message;
    return fit ? *std::move(fit) : model::Predictor{};
  }
  /// Nothing, or the error that says why not.
  static std::string Refusal(const Samples& samples, const TrainerOptions& options = {}) {
    const auto fit = GetParam().fit(samples, options);
    if (fit) return "no error";
    EXPECT_EQ(fit.error().kind, ErrorKind::kInvalid);
    return fit.error().message;
  }
};

INSTANTIATE_TEST_SUITE_P(Trainers, EveryTrainer, ::testing::ValuesIn(Trainers().begin(), Trainers().end()),
                         [](const ::testing::TestParamInfo<Trainer>& tested) {
                           std::string name(tested.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryTrainer, LearnsANode) {
  const Samples samples = Node(300);
  const auto predictor = Fit(samples);
  ASSERT_TRUE(model::Check(predictor, 2));
  std::vector<double> predicted;
  for (size_t i = 0; i < 300; ++i) predicted.push_back(model::Predict(predictor, samples.features.row(i)));
  const auto accuracy = Judge(predicted, samples.labels);
  EXPECT_LT(accuracy.mae_watts, 6) << "the mean has 29 W";
  EXPECT_GT(accuracy.r2, 0.9);
}

TEST_P(EveryTrainer, SameSamplesAndSeed_SamePredictor) {
  const Samples samples = Node(120);
  EXPECT_EQ(Fit(samples), Fit(samples));
  EXPECT_EQ(Fit(samples, {.parameters = {}, .seed = 5}), Fit(samples, {.parameters = {}, .seed = 5}));
}

TEST_P(EveryTrainer, UnitOfAFeature_DoesNotMatter) {
  const Samples joules = Node(120);
  Samples other = joules;
  for (double& value : other.features.values) value /= 1024;  // exact
  const auto one = Fit(joules);
  const auto two = Fit(other);
  for (size_t i = 0; i < 120; i += 7)
    EXPECT_NEAR(model::Predict(one, joules.features.row(i)), model::Predict(two, other.features.row(i)), 1e-6);
}

TEST_P(EveryTrainer, FewRows_PredictorOrReason) {
  for (size_t rows = 1; rows <= 8; ++rows) ExpectPredictorOrReason(Node(rows), std::to_string(rows) + " rows");
}

TEST_P(EveryTrainer, DegenerateRows_PredictorOrReason) {
  ExpectPredictorOrReason(Of(1, {5}, {70}), "one row");
  ExpectPredictorOrReason(Of(2, {1, 0, 1, 0, 1, 0, 1, 0}, {10, 20, 30, 40}), "identical rows");
  ExpectPredictorOrReason(Of(2, {0, 0, 0, 0, 0, 0}, {10, 20, 30}), "all features 0");
  ExpectPredictorOrReason(Of(2, {1, 0.1, 2, 0.1, 3, 0.1, 4, 0.1, 5, 0.1}, {10, 21, 29, 41, 50}), "constant column");
  ExpectPredictorOrReason(Of(2, {1, 2, 2, 4, 3, 6, 4, 8, 5, 10}, {10, 21, 29, 41, 50}), "collinear columns");
  ExpectPredictorOrReason(Of(1, {-1, -2, -3, -4, -5}, {10, 21, 29, 41, 50}), "negative features");
  ExpectPredictorOrReason(Of(1, {1e-310, 2e-310, 3e-310, 4e-310}, {1, 2, 3, 4}), "subnormal features");
  ExpectPredictorOrReason(Of(1, {1e307, -1e307, 1.7e308, 0}, {1, 2, 3, 4}), "huge features");
  ExpectPredictorOrReason(Of(1, {1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3}, {1, 2, 3, 4}), "small steps on a large value");
  ExpectPredictorOrReason(Of(1, {1, 2, 3, 4, 5}, {1e12, -1e12, 1e12, 0, 5}), "labels at their limit");
  ExpectPredictorOrReason(Of(1, {0, 0, 0, 0, 1e9}, {50, 50, 50, 50, 300}), "one spike");
  ExpectPredictorOrReason(Of(1, {1, 2, 3, 4, 5, 6}, {60, 50, 40, 30, 20, 10}), "falling power");
}

TEST_P(EveryTrainer, MoreFeaturesThanRows_PredictorOrReason) {
  Samples samples = Of(64, {}, {});
  std::mt19937_64 random(3);
  for (int i = 0; i < 64 * 10; ++i) samples.features.values.push_back(static_cast<double>(random() % 1000));
  for (int i = 0; i < 10; ++i) samples.labels.push_back(static_cast<double>(random() % 200));
  ExpectPredictorOrReason(samples, "10 rows of 64");
}

TEST_P(EveryTrainer, LabelsThatDoNotVary_ArePredicted) {
  for (const double watts : {0.0, 42.5}) {
    Samples samples = Node(40);
    samples.labels.assign(40, watts);
    const auto predictor = Fit(samples);
    for (size_t i = 0; i < 40; i += 5)
      EXPECT_NEAR(model::Predict(predictor, samples.features.row(i)), watts, 0.01 * watts + 1e-9);
  }
}

TEST_P(EveryTrainer, SamplesThatCannotBe_AreRefused) {
  EXPECT_THAT(Refusal(Of(2, {}, {})), HasSubstr("no rows"));
  EXPECT_THAT(Refusal(Of(0, {}, {1, 2})), HasSubstr("features"));
  EXPECT_THAT(Refusal(Of(65, std::vector<double>(65, 1), {1})), HasSubstr("64"));
  EXPECT_THAT(Refusal(Of(2, {1, 2, 3}, {1, 2})), HasSubstr("labels"));
  EXPECT_THAT(Refusal(Of(1, {1, 2, kNan, 4, 5}, {1, 2, 3, 4, 5})), HasSubstr("row 2"));
  EXPECT_THAT(Refusal(Of(1, {1, 2, 3, 4, 5}, {1, 2, 3, kNan, 5})), HasSubstr("row 3"));
  EXPECT_THAT(Refusal(Of(1, {1, 2, 3, 4, 5}, {1, 2, 3, 1e13, 5})), HasSubstr("row 3"));
}

TEST_P(EveryTrainer, UnknownParameter_IsRefusedByName) {
  EXPECT_THAT(Refusal(Node(20), {.parameters = {{"depht", 3}}}), HasSubstr("depht"));
}

TEST_P(EveryTrainer, Parameters_AreCheckedWithoutRows) {
  EXPECT_TRUE(CheckParameters(GetParam(), {}));
  const Status unknown = CheckParameters(GetParam(), {.parameters = {{"depht", 3}}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("depht"));
  const std::string listed = ParametersOf(GetParam());
  if (listed == "none") return;
  EXPECT_FALSE(CheckParameters(GetParam(), {.parameters = {{listed.substr(0, listed.find('=')), -2}}})) << listed;
}

TEST_P(EveryTrainer, ListedParameters_AreAcceptedWithTheirDefaults) {
  const std::string listed = ParametersOf(GetParam());
  if (listed == "none") {
    EXPECT_THAT(Refusal(Node(20), {.parameters = {{"x", 0}}}), HasSubstr("defaults: none"));
    return;
  }
  TrainerOptions options;
  std::istringstream items(listed);
  for (std::string item; std::getline(items >> std::ws, item, ',');)
    options.parameters[item.substr(0, item.find('='))] = std::stod(item.substr(item.find('=') + 1));
  EXPECT_FALSE(options.parameters.empty());
  const auto with = GetParam().fit(Node(60), options), without = GetParam().fit(Node(60), {});
  ASSERT_TRUE(with) << listed << ": " << with.error().message;
  EXPECT_EQ(*with, *without);
}

TEST(Trainers, NamesOfUpstreamAreKnown) {
  for (const std::string_view name :
       {"PolynomialRegressionTrainer", "GradientBoostingRegressorTrainer", "KNeighborsRegressorTrainer",
        "LinearRegressionTrainer", "SVRRegressorTrainer", "XgboostFitTrainer", "SGDRegressorTrainer",
        "LogarithmicRegressionTrainer", "LogisticRegressionTrainer", "ExponentialRegressionTrainer"})
    EXPECT_NE(FindTrainer(name), nullptr) << name;
}

TEST(Trainers, EachIsFoundByBothNames) {
  for (const Trainer& trainer : Trainers()) {
    EXPECT_EQ(FindTrainer(trainer.name), &trainer);
    EXPECT_TRUE(trainer.upstream_name.empty() || FindTrainer(trainer.upstream_name) == &trainer) << trainer.name;
    EXPECT_FALSE(trainer.description.empty()) << trainer.name;
  }
  EXPECT_EQ(FindTrainer(""), nullptr);
  EXPECT_EQ(FindTrainer("nonsense"), nullptr);
}

}  // namespace
}  // namespace kepler::lab::training
