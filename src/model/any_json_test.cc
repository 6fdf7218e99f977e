#include "model/any_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/model_json.h"

namespace kepler::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kWeights =
    R"({"package":{"All_Weights":{"Categorical_Variables":{},"Numerical_Variables":{"bpf_cpu_time_ms":{"scale":1}},)"
    R"("CurveFit_Weights":[1,0,2]}}})";

/// One tree on the second of two features.
std::string Booster(std::string_view names) {
  return std::string(R"({"learner":{)") + std::string(names) +
         R"("objective":{"name":"reg:squarederror"},"learner_model_param":{"base_score":"1E1","num_feature":"2"},)"
         R"("gradient_booster":{"name":"gbtree","model":{"trees":[{"left_children":[1,-1,-1],)"
         R"("right_children":[2,-1,-1],"split_indices":[1,0,0],"split_conditions":[0.5,1,2],)"
         R"("default_left":[0,0,0]}]}}}})";
}

std::string AnyComplaint(std::string_view text, const FileHints& hints = {}) {
  const auto model = ReadAnyModelJson(text, hints);
  return model ? "" : model.error().message;
}

TEST(AnyModelJson, WeightFile_GoesByItsName) {
  const auto model = ReadAnyModelJson(kWeights, {.name = "ExponentialRegressionTrainer_7", .features = {}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->components.at(0).trainer, "ExponentialRegressionTrainer");
  EXPECT_EQ(EstimateRow(*model, std::vector<double>{5}, 1).watts[0], 3);
  EXPECT_THAT(AnyComplaint(kWeights, {.name = "x", .features = {}}), HasSubstr("CurveFit_Weights"));
}

TEST(AnyModelJson, Booster_HasItsNamesOrThoseGiven) {
  const std::vector<std::string> given = {"cache_miss", "cpu_cycles"};
  for (const std::string& text : {Booster(""), Booster(R"("feature_names":["cache_miss","cpu_cycles"],)")}) {
    const auto model = ReadAnyModelJson(text, {.name = "b", .features = given, .component = Component::kDram});
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_THAT(model->features, ElementsAre("cache_miss", "cpu_cycles"));
    EXPECT_EQ(model->name, "b");
    const auto dram = static_cast<size_t>(Component::kDram);
    EXPECT_EQ(EstimateRow(*model, std::vector<double>{0, 0}, 1).watts[dram], 11);
    EXPECT_EQ(EstimateRow(*model, std::vector<double>{0, 1}, 1).watts[dram], 12);
  }
  EXPECT_TRUE(ReadAnyModelJson(Booster(R"("feature_names":["a","b"],)"), {}));
  EXPECT_THAT(AnyComplaint(Booster("")), HasSubstr("does not name its 2 features"));
  EXPECT_THAT(AnyComplaint(Booster(R"("feature_names":["a","b"],)"), {.name = "", .features = given}),
              HasSubstr("already names its features"));
}

/// As in the published weights of cloud machines.
TEST(AnyModelJson, ComponentWithoutTarget_IsLeftOut) {
  const auto weights = [](std::string_view name, int bias) {
    return fmt::format(R"("{}":{{"All_Weights":{{"Bias_Weight":{},"Categorical_Variables":{{}},)"
                       R"("Numerical_Variables":{{"bpf_cpu_time_ms":{{"scale":9,"weight":0}}}}}}}})",
                       name, bias);
  };
  const auto model = ReadAnyModelJson(fmt::format("{{{},{}}}", weights("package", 143), weights("core", 0)), {});
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->components.size(), 1U);
  EXPECT_EQ(model->components[0].component, Component::kPackage);
  EXPECT_THAT(AnyComplaint(fmt::format("{{{}}}", weights("core", 0))), HasSubstr("give 0 W for every row"));
}

TEST(AnyModelJson, OwnFile_IsAsModelJsonReadsIt) {
  PowerModel model;
  model.features = {"cpu_cycles"};
  model.components.emplace_back().predictor.formula = Linear{.bias = 1, .weights = {2}};
  EXPECT_EQ(ReadAnyModelJson(WriteModelJson(model), {}), model);
}

TEST(AnyModelJson, WhatTheWattsAre_IsTakenFromTheHintUnlessTheFileSaysIt) {
  EXPECT_EQ(ReadAnyModelJson(Booster(R"("feature_names":["a","b"],)"), {.output = OutputType::kDynPower})->output,
            OutputType::kDynPower);
  EXPECT_EQ(
      ReadAnyModelJson(Booster(R"("feature_names":["a","b"],)"), {.output_otherwise = OutputType::kDynPower})->output,
      OutputType::kDynPower);
  PowerModel model;
  model.features = {"cpu_cycles"};
  model.components.emplace_back().predictor.formula = Linear{.bias = 1, .weights = {2}};
  EXPECT_EQ(AnyComplaint(WriteModelJson(model), {.output = OutputType::kAbsPower}), "");
  EXPECT_THAT(AnyComplaint(WriteModelJson(model), {.output = OutputType::kDynPower}), HasSubstr("watts are AbsPower"));
}

TEST(AnyModelJson, WhatIsSigned_MustSayAllItself) {
  for (const std::string& text : {std::string(kWeights), Booster(R"("feature_names":["a","b"],)")}) {
    const auto refused = ReadAnyModelJson(text, {.name = "ExponentialRegressionTrainer_7", .is_signed = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
    EXPECT_THAT(refused.error().message, HasSubstr("a signed model must be a model.json of kepler-model train"));
  }
  PowerModel model;
  model.features = {"cpu_cycles"};
  model.components.emplace_back().predictor.formula = Linear{.bias = 1, .weights = {2}};
  EXPECT_EQ(ReadAnyModelJson(WriteModelJson(model), {.is_signed = true}), model);
}

TEST(AnyModelJson, OtherFiles_AreNoModels) {
  for (const char* text : {"{}", R"({"name":"x"})"}) EXPECT_THAT(AnyComplaint(text), HasSubstr("not a model")) << text;
  for (const char* text : {"", "[]", "{", R"({"kepler_model":2})", R"({"learner":1})", R"({"dram":{}})"})
    EXPECT_NE(AnyComplaint(text), "") << text;
}

}  // namespace
}  // namespace kepler::model
