// Weight files that are written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "model/weights_json.h"
#include "model/weights_test_util.h"

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

TEST(WeightsJsonWritten, ComesBack) {
  for (const auto& [text, name] :
       {std::pair{R"({"machine_spec": {"processor": "a \"b\"", "cores": 4, "memory": 7}, )" +
                      Linear2("package", 143.81200000000001, 95877.1, 305.148) + "," + Linear2("dram", 1e-300, 0, 3) +
                      "}",
                  std::string("SGDRegressorTrainer_0")},
        std::pair{CurveFile("package", kCounters, "[0.1, 0.2, 0.3]"), std::string("ExponentialRegressionTrainer_5")},
        std::pair{CurveFile("dram", kCounters, "[0.1, 0.2, 0.3]"), std::string("LogarithmicRegressionTrainer_5")},
        std::pair{CurveFile("platform", kOneFeature, "[1, 2, 3, 4]"), std::string("LogisticRegressionTrainer_5")}}) {
    const PowerModel model = ReadWeights(text, name);
    const auto written = WriteWeightsJson(model);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_EQ(ReadWeights(*written, "another name"), model) << *written;
  }
}

TEST(WeightsJsonWritten, StandsUnderTheNameThatSaysItsFormula) {
  PowerModel model = ReadWeights(CurveFile("package", kCounters, "[0.1, 0.2, 0.3]"), "ExponentialRegressionTrainer_5");
  model.name = "my machine";
  EXPECT_EQ(ReadWeights(*WriteWeightsJson(model), "").name, "ExponentialRegressionTrainer_0");
}

TEST(WeightsJsonWritten, WhatTheFormatDoesNotHaveIsRefused) {
  const PowerModel curve = ReadWeights(CurveFile("package", kCounters, "[1, 1, 1]"), "ExponentialRegressionTrainer_5");
  const auto refusal = [](const PowerModel& model) {
    const auto written = WriteWeightsJson(model);
    EXPECT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::kInvalid);
    return written ? "" : written.error().message;
  };
  PowerModel trees = curve;
  trees.components[0].predictor.formula = Trees();
  EXPECT_THAT(refusal(trees), HasSubstr("package: this format supports only linear models and curves"));
  PowerModel other = curve;
  std::get<Curve>(other.components[0].predictor.formula).feature = 0;
  EXPECT_THAT(refusal(other), HasSubstr("package: its curve uses a feature"));
  PowerModel limited = curve;
  limited.components[0].predictor.limits.assign(3, Range{0, 1});
  EXPECT_THAT(refusal(limited), HasSubstr("limits"));
  PowerModel mixed = curve;
  mixed.components.push_back(mixed.components[0]);
  mixed.components[1].component = Component::kCore;
  std::get<Curve>(mixed.components[1].predictor.formula).shape = Curve::Shape::kLogistic;
  EXPECT_THAT(refusal(mixed), HasSubstr("core: another formula"));
  PowerModel broken = curve;
  std::get<Curve>(broken.components[0].predictor.formula).w[0] = NAN;
  EXPECT_THAT(refusal(broken), HasSubstr("package: w[0]"));
  PowerModel per_core = curve;
  per_core.per = Per::kCore;
  EXPECT_THAT(refusal(per_core), HasSubstr("per logical CPU"));
  PowerModel empty = curve;
  empty.components.clear();
  EXPECT_THAT(refusal(empty), HasSubstr("no components"));
}

}  // namespace
}  // namespace kepler::model
