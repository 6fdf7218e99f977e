#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "model/xgboost_json.h"

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

/// x1 < 0.5 or missing: 3, else x0 < 2: 5, else 9.
Trees TwoSplits() {
  return {.base = 1.25F,
          .roots = {0, 3},
          .nodes = {{.value = 0.5F, .left = 1, .right = 2, .feature = 1, .missing_left = true},
                    {.value = 3},
                    {.value = 7},
                    {.value = 2, .left = 4, .right = 5, .feature = 0},
                    {.value = -1e-7F},
                    {.value = 1.0F / 3}}};
}

PowerModel ModelOf(Predictor predictor) {
  PowerModel model;
  model.features = {"bpf_cpu_time_ms", "cache_miss"};
  model.components.push_back({.component = Component::kPackage,
                              .trainer = "xgboost",
                              .predictor = std::move(predictor),
                              .label = {},
                              .accuracy = {},
                              .unseen = {}});
  return model;
}

Result<std::string> Written(Predictor predictor) {
  const PowerModel model = ModelOf(std::move(predictor));
  return WriteXgboostJson(model, model.components[0]);
}

Trees Again(Predictor predictor) {
  const auto text = Written(std::move(predictor));
  EXPECT_TRUE(text) << text.error().message;
  const auto read = ReadXgboostJson(text.value_or(""));
  EXPECT_TRUE(read) << read.error().message;
  if (!read) return {};
  EXPECT_EQ(read->features, (std::vector<std::string>{"bpf_cpu_time_ms", "cache_miss"}));
  return read->trees;
}

TEST(XgboostJsonWrite, TreesComeBackAsTheyWere) {
  EXPECT_EQ(Again({.limits = {}, .scale = {}, .formula = TwoSplits()}), TwoSplits());
}

TEST(XgboostJsonWrite, ScalesAndLimits_AreInTheThresholds) {
  const Trees scaled = Again({.limits = {}, .scale = {10, 0}, .formula = TwoSplits()});
  EXPECT_EQ(scaled.nodes[3].value, 20);
  EXPECT_EQ(scaled.nodes[0].value, std::numeric_limits<float>::max());  // 0 < 0.5 for every row
  const Trees limited = Again({.limits = {{2, 9}, {0, 0.25}}, .scale = {}, .formula = TwoSplits()});
  EXPECT_EQ(limited.nodes[3].value, std::numeric_limits<float>::lowest());  // 2 at least is never below 2
  EXPECT_EQ(limited.nodes[0].value, std::numeric_limits<float>::max());     // 0.25 at most is always below 0.5
}

TEST(XgboostJsonWrite, ThresholdsBeyondFloat_AreTheLargestFloat) {
  Trees trees = TwoSplits();
  trees.nodes[3].value = -3e38F;
  const Trees scaled = Again({.limits = {}, .scale = {1e9, 1e39}, .formula = trees});
  EXPECT_EQ(scaled.nodes[0].value, std::numeric_limits<float>::max());
  EXPECT_EQ(scaled.nodes[3].value, std::numeric_limits<float>::lowest());
}

TEST(XgboostJsonWrite, BlendsOfTrees_AreOneList) {
  const Predictor part{.limits = {}, .scale = {}, .formula = TwoSplits()};
  const Trees blended =
      Again({.limits = {}, .scale = {}, .formula = Blend{.weights = {0.25, 0.75}, .parts = {part, part}}});
  EXPECT_EQ(blended.roots, (std::vector<uint32_t>{0, 3, 6, 9}));
  EXPECT_EQ(blended.base, 1.25F);
  EXPECT_EQ(blended.nodes[2].value, 7 * 0.25F);
  EXPECT_EQ(blended.nodes[8].value, 7 * 0.75F);
  EXPECT_EQ(blended.nodes[6].right, 8U);
}

TEST(XgboostJsonWrite, WhatTheFormatCannotHold_IsRefused) {
  const Linear linear{.bias = 1, .weights = {2, 3}};
  EXPECT_THAT(Written({.limits = {}, .scale = {}, .formula = linear}).error().message, HasSubstr("only trees"));
  const Predictor part{.limits = {}, .scale = {}, .formula = linear};
  EXPECT_FALSE(Written({.limits = {}, .scale = {}, .formula = Blend{.weights = {1}, .parts = {part}}}));
  EXPECT_THAT(Written({.limits = {}, .scale = {1, -1}, .formula = TwoSplits()}).error().message,
              HasSubstr("negative scale"));
  PowerModel model = ModelOf({.limits = {}, .scale = {}, .formula = TwoSplits()});
  model.per = Per::kCore;
  EXPECT_THAT(WriteXgboostJson(model, model.components[0]).error().message, HasSubstr("per core"));
}

}  // namespace
}  // namespace kepler::model
