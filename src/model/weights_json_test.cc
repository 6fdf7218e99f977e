#include "model/weights_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "model/weights_test_util.h"

namespace kepler::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WeightsComplaint(std::string_view text, std::string_view name = "SGDRegressorTrainer_0") {
  const auto model = ReadWeightsJson(text, name);
  if (model) return "";
  EXPECT_EQ(model.error().kind, ErrorKind::kMalformed);
  return model.error().message;
}

/// What the component predicts for one row of the model's features.
double WattsOf(const PowerModel& model, Component component, const std::vector<double>& row) {
  EXPECT_EQ(row.size(), model.features.size());
  for (const ComponentModel& own : model.components)
    if (own.component == component) return Predict(own.predictor, row);
  ADD_FAILURE() << "no " << model::Name(component);
  return NAN;
}

// Golden values of Kepler 0.7's own unit tests, which have a categorical weight of 1 W on top.
TEST(WeightsJson, GoldenLinear) {
  const PowerModel model = ReadWeights("{" + Linear2("package", 1 + 1, 2, 1) + "}", "SGDRegressorTrainer_0");
  EXPECT_NEAR(WattsOf(model, Component::kPackage, {2, 0}), 3.0, 1e-9);
  EXPECT_NEAR(WattsOf(model, Component::kPackage, {1, 0}), 2.5, 1e-9);
  EXPECT_NEAR(WattsOf(model, Component::kPackage, {0, 0}), 2.0, 1e-9);
}

TEST(WeightsJson, GoldenCurves) {
  const double base = 1;
  const auto watts = [](std::string_view name, std::string_view w) {
    return WattsOf(ReadWeights(CurveFile("package", kOneFeature, w), name), Component::kPackage, {1});
  };
  EXPECT_NEAR(base + watts("ExponentialRegressionTrainer_0", "[1, 1, 1]"), std::exp(1.0) + 2, 1e-9);
  EXPECT_NEAR(base + watts("LogarithmicRegressionTrainer_12", "[1, 1, 1]"), std::log(2.0) + 2, 1e-9);
  EXPECT_NEAR(base + watts("LogisticRegressionTrainer_0", "[1, 1, 1, 1]"), 2.5, 1e-9);
  EXPECT_NEAR(watts("LogisticRegressionTrainer_0", "[8, 0.5, 2, 3]"), 3 + 8 / (1 + std::exp(-1.0)), 1e-9);
}

// The files that Kepler 0.7 ships, at rest and at one and 96 busy CPUs.
TEST(WeightsJson, GoldenShippedDefaults) {
  struct Shipped {
    Component component;
    double bias, scale, weight;
  };
  constexpr Shipped kShipped[] = {{Component::kPlatform, 63.732, 3991.69, 60.735},
                                  {Component::kPlatform, 2.298, 3991.69, 59.306},
                                  {Component::kPackage, 143.812, 95877, 305.148},
                                  {Component::kDram, 18.616, 95877, 8.434},
                                  {Component::kPackage, 89.262, 95877, 304.902},
                                  {Component::kDram, 4.457, 95877, 8.250},
                                  {Component::kCore, 0, 95877, 0},
                                  {Component::kUncore, 0, 95877, 0}};
  for (const auto& [component, bias, scale, weight] : kShipped) {
    const PowerModel model =
        ReadWeights("{" + Linear2(model::Name(component), bias, scale, weight) + "}", "intel_rapl_AbsPowerModel");
    EXPECT_THAT(model.features, ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit"));
    for (const double busy : {0.0, 1000.0, 96'000.0})
      EXPECT_NEAR(WattsOf(model, component, {busy, 12'345}), bias + busy * weight / scale, 1e-9);
  }
}

TEST(WeightsJson, WhatTheFileSaysOfItself) {
  const PowerModel model = ReadWeights(
      R"({"model_name": "SGDRegressorTrainer_3", "mae": 4.5, "machine_spec": {"vendor": "intel", "processor":
              "intel_xeon_e5_2686v4", "cores": 72, "chips": 2, "memory": 503, "frequency": 3500}, )" +
          Linear2("package", 1, 2, 3) + "," + Linear2("dram", 4, 5, 6) + "}",
      "LogisticRegressionTrainer_0");
  EXPECT_EQ(model.name, "SGDRegressorTrainer_3");
  ASSERT_EQ(model.components.size(), 2U);
  EXPECT_EQ(model.components[0].trainer, "SGDRegressorTrainer");
  EXPECT_EQ(model.machine, (MachineSpec{"intel_xeon_e5_2686v4", 72, 2, 503, 3500}));
}

TEST(WeightsJson, AScaleOfZeroContributesNothing) {
  const PowerModel model = ReadWeights("{" + Linear2("package", 7, 0, 100) + "}", "x");
  EXPECT_EQ(WattsOf(model, Component::kPackage, {5000, 1}), 7);
}

TEST(WeightsJson, ComponentsMayDifferInTheirFeatures) {
  const auto component = [](std::string_view name, std::string_view variables) {
    return fmt::format(R"("{}": {{"All_Weights": {{"Bias_Weight": 1, "Numerical_Variables": {{{}}}}}}})", name,
                       variables);
  };
  const PowerModel model = ReadWeights(
      "{" + component("package", R"("cpu_cycles": {"scale": 2, "weight": 1})") + "," +
          component("dram", R"("cache_miss": {"scale": 4, "weight": 1}, "cpu_cycles": {"scale": 8, "weight": 2})") +
          "}",
      "x");
  EXPECT_THAT(model.features, ElementsAre("cpu_cycles", "cache_miss"));
  EXPECT_EQ(WattsOf(model, Component::kPackage, {16, 100}), 1 + 8);
  EXPECT_EQ(WattsOf(model, Component::kDram, {16, 100}), 1 + 25 + 4);
}

TEST(WeightsJson, CurvesUseTheFeatureOfTraining) {
  constexpr std::string_view kName = "ExponentialRegressionTrainer_1";
  constexpr std::string_view kCombined =
      R"("bpf_block_irq": {"scale": 1}, "bpf_net_rx_irq": {"scale": 1}, "bpf_net_tx_irq": {"scale": 1},
         "cache_miss": {"scale": 1}, "cpu_cycles": {"scale": 1}, "cpu_instructions": {"scale": 1})";
  constexpr std::string_view kBpfIrq =
      R"("bpf_block_irq": {"scale": 1}, "bpf_cpu_time_ms": {"scale": 1}, "bpf_net_rx_irq": {"scale": 1},
         "bpf_net_tx_irq": {"scale": 1}, "bpf_page_cache_hit": {"scale": 1})";
  constexpr std::string_view kBasic =
      R"("bpf_cpu_time_ms": {"scale": 1}, "bpf_page_cache_hit": {"scale": 1}, "cache_miss": {"scale": 1},
         "cpu_cycles": {"scale": 1}, "cpu_instructions": {"scale": 1})";
  const auto index = [&](std::string_view component, std::string_view features) {
    const PowerModel model = ReadWeights(CurveFile(component, features, "[1, 1, 1]"), kName);
    return std::get<Curve>(model.components.at(0).predictor.formula).feature;
  };
  EXPECT_EQ(index("package", kCounters), 2U);
  EXPECT_EQ(index("dram", kCounters), 0U);
  EXPECT_EQ(index("package", kCombined), 5U);
  EXPECT_EQ(index("dram", kCombined), 3U);
  EXPECT_EQ(index("platform", kBpfIrq), 1U);
  EXPECT_EQ(index("dram", kBpfIrq), 4U);
  EXPECT_EQ(index("core", kBasic), 4U);
  EXPECT_EQ(index("dram", kBasic), 2U);
  EXPECT_EQ(index("package", R"("accelerator_intel_qat": {"scale": 1})"), 0U);
  EXPECT_THAT(WeightsComplaint(CurveFile("package", R"("a": {"scale": 1}, "b": {"scale": 1})", "[1, 1, 1]"), kName),
              HasSubstr("the curve does not say on which of the features a, b it was fitted"));
}

TEST(WeightsJson, FilesOfKepler06) {
  const auto file = [](std::string_view variable) {
    return fmt::format(
        R"({{"package": {{"All_Weights": {{"Bias_Weight": 10, "Numerical_Variables": {{"bpf_cpu_time_us": {}}}}}}}}})",
        variable);
  };
  constexpr std::string_view kScaled = R"({"scale": 0.5, "mean": 0, "variance": 0, "weight": 3})";
  const PowerModel multiplying = ReadWeights(file(kScaled), "LinearRegressionTrainer_0");
  EXPECT_THAT(multiplying.features, ElementsAre("bpf_cpu_time_ms"));
  EXPECT_EQ(WattsOf(multiplying, Component::kPackage, {8}), 10 + 3 * 4);
  EXPECT_EQ(WattsOf(ReadWeights(file(kScaled), "SGDRegressorTrainer_0"), Component::kPackage, {8}), 10 + 3 * 16);
  constexpr std::string_view kToday = R"({"scale": 0.5, "weight": 3})";
  EXPECT_EQ(WattsOf(ReadWeights(file(kToday), "LinearRegressionTrainer_0"), Component::kPackage, {8}), 10 + 3 * 16);
  constexpr std::string_view kStandard = R"({"mean": 6, "variance": 4, "weight": 3})";
  EXPECT_EQ(WattsOf(ReadWeights(file(kStandard), "SGDRegressorTrainer_0"), Component::kPackage, {8}), 10 + 3 * 1);
  constexpr std::string_view kConstant = R"({"mean": 6, "variance": 0, "weight": 3})";
  EXPECT_EQ(WattsOf(ReadWeights(file(kConstant), "SGDRegressorTrainer_0"), Component::kPackage, {8}), 10);
  EXPECT_THAT(WeightsComplaint(file(R"({"scale": 2, "mean": 6, "variance": 4, "weight": 3})")),
              HasSubstr("only one is allowed"));
  EXPECT_THAT(WeightsComplaint(file(R"({"mean": 6, "variance": -4, "weight": 3})")), HasSubstr("its variance is -4"));
  EXPECT_THAT(WeightsComplaint(file(R"({"weight": 3})")),
              HasSubstr("bpf_cpu_time_us: neither \"scale\" nor \"variance\""));
}

// {"learner": ...} of one tree: cache_miss / scale < 0.5 ? 1 : 2, base 10.
constexpr std::string_view kBooster =
    "eyJsZWFybmVyIjp7Im9iamVjdGl2ZSI6eyJuYW1lIjoicmVnOnNxdWFyZWRlcnJvciJ9LCJsZWFybmVyX21vZGVsX3BhcmFtIjp7ImJhc2Vfc2Nvcm"
    "Ui"
    "OiIxRTEiLCJudW1fZmVhdHVyZSI6IjIifSwiZ3JhZGllbnRfYm9vc3RlciI6eyJuYW1lIjoiZ2J0cmVlIiwibW9kZWwiOnsidHJlZXMiOlt7ImxlZn"
    "Rf"
    "Y2hpbGRyZW4iOlsxLC0xLC0xXSwicmlnaHRfY2hpbGRyZW4iOlsyLC0xLC0xXSwic3BsaXRfaW5kaWNlcyI6WzEsMCwwXSwic3BsaXRfY29uZGl0aW"
    "9u"
    "cyI6WzAuNSwxLDJdLCJkZWZhdWx0X2xlZnQiOlswLDAsMF19XX19fX0=";

std::string BoosterFile(std::string_view features, std::string_view booster) {
  return fmt::format(R"({{"package": {{"All_Weights": {{"Numerical_Variables": {{{}}}, "XGboost_Weights": "{}"}}}}}})",
                     features, booster);
}

TEST(WeightsJson, XgboostWithScales) {
  constexpr std::string_view kTwo = R"("cpu_cycles": {"scale": 1}, "cache_miss": {"scale": 100})";
  const PowerModel model = ReadWeights(BoosterFile(kTwo, kBooster), "XgboostFitTrainer_0");
  EXPECT_EQ(WattsOf(model, Component::kPackage, {0, 49}), 11);
  EXPECT_EQ(WattsOf(model, Component::kPackage, {0, 50}), 12);
  EXPECT_THAT(WeightsComplaint(BoosterFile(kCounters, kBooster)),
              HasSubstr("2 features, but Numerical_Variables has 3"));
  EXPECT_THAT(WeightsComplaint(BoosterFile(kTwo, "e30=")), HasSubstr("XGboost_Weights: \"learner\" is missing"));
  for (const std::string_view wrong : {"e30", "e3.=", "====", "e30=e30="})
    EXPECT_THAT(WeightsComplaint(BoosterFile(kTwo, wrong)), HasSubstr("not Base64")) << wrong;
  EXPECT_NE(WeightsComplaint(BoosterFile(kTwo, "")), "");
}

TEST(WeightsJson, WhatIsWrongIsNamed) {
  EXPECT_THAT(WeightsComplaint("{}"), HasSubstr("neither \"platform\" nor"));
  EXPECT_THAT(WeightsComplaint("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(WeightsComplaint(R"({"package": {}})"), HasSubstr("package: \"All_Weights\" is missing"));
  EXPECT_THAT(WeightsComplaint(R"({"package": {"All_Weights": {"Bias_Weight": 1}}})"),
              HasSubstr("package.All_Weights: \"Numerical_Variables\" is missing"));
  EXPECT_THAT(WeightsComplaint(R"({"package": {"All_Weights": {"Bias_Weight": 1, "Numerical_Variables": {}}}})"),
              HasSubstr("it has no features"));
  EXPECT_THAT(
      WeightsComplaint(R"({"package": {"All_Weights": {"Numerical_Variables": {"x": {"scale": 1, "weight": 1}}}}})"),
      HasSubstr("\"Bias_Weight\" is missing"));
  EXPECT_THAT(WeightsComplaint(
                  R"({"dram": {"All_Weights": {"Bias_Weight": "1", "Numerical_Variables": {"x": {"scale": 1}}}}})"),
              HasSubstr("dram.All_Weights.Bias_Weight: expected a number, found a text"));
  EXPECT_THAT(WeightsComplaint(R"({"package": {"All_Weights": {"Bias_Weight": 1, "Numerical_Variables":
                           {"bpf_cpu_time_us": {"scale": 1}, "bpf_cpu_time_ms": {"scale": 1}}}}})"),
              HasSubstr("bpf_cpu_time_ms already exists under another name"));
  EXPECT_THAT(WeightsComplaint(CurveFile("package", kOneFeature, "[1, 1, 1]")),
              HasSubstr("the model's name means a linear model"));
  EXPECT_THAT(WeightsComplaint("{" + Linear2("package", 1, 1, 1) + "}", "LogisticRegressionTrainer_0"),
              HasSubstr("\"CurveFit_Weights\" is missing"));
  EXPECT_THAT(WeightsComplaint(CurveFile("package", kOneFeature, "[1, 1, 1]"), "LogisticRegressionTrainer_0"),
              HasSubstr("3 numbers, but LogisticRegressionTrainer has 4"));
}

TEST(WeightsJson, CategoricalWeightsAreRefusedUnlessEmpty) {
  const auto file = [](std::string_view categorical) {
    return fmt::format(R"({{"package": {{"All_Weights": {{"Bias_Weight": 1, "Categorical_Variables": {},
                           "Numerical_Variables": {{"x": {{"scale": 1, "weight": 1}}}}}}}}}})",
                       categorical);
  };
  EXPECT_EQ(WeightsComplaint(file("{}")), "");
  EXPECT_EQ(WeightsComplaint(file(R"({"cpu_architecture": {}})")), "");
  EXPECT_THAT(WeightsComplaint(file(R"({"cpu_architecture": {"Sandy Bridge": {"weight": 1.0}}})")),
              HasSubstr("Categorical_Variables.cpu_architecture: weights of categorical values are not supported"));
}

TEST(WeightsJson, TruncatedAnywhereIsMalformed) {
  const std::string text = "{" + Linear2("package", 1, 2, 3) + "}";
  for (size_t size = 0; size < text.size(); ++size) EXPECT_NE(WeightsComplaint(text.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace kepler::model
