#include "model/xgboost_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>

namespace kepler::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// x0 < 0.5 ? -1 (also missing) : (x1 < 2 ? 3 : 4), with a pruned node 3 that nothing leads to.
constexpr std::string_view kTree =
    R"({"left_children": [2, 4, -1, -1, -1, -1], "right_children": [1, 5, -1, -1, -1, -1],
        "split_indices": [0, 1, 0, 0, 0, 0], "split_conditions": [5E-1, 2E0, -1E0, 9E9, 3E0, 4E0],
        "default_left": [1, 0, 0, 0, 0, 0], "split_type": [0, 0, 0, 0, 0, 0], "base_weights": [7, 7, 7, 7, 7, 7],
        "tree_param": {"num_nodes": "6", "num_deleted": "1", "size_leaf_vector": "1"}})";

struct XgboostParts {
  std::string base = "1.5E1";
  std::string features = "2";
  std::string booster = "gbtree";
  std::string objective = "reg:squarederror";
  std::string names = "[]";
  std::string info = "[0]";
  std::string more = "";  // of learner_model_param
  std::string tree{kTree};
};

std::string XgboostFile(const XgboostParts& parts) {
  return fmt::format(
      R"({{"version": [3, 2, 0], "learner": {{"feature_names": {}, "objective": {{"name": "{}"}},
          "learner_model_param": {{"base_score": "{}", "num_feature": "{}"{}}},
          "gradient_booster": {{"name": "{}", "model": {{"tree_info": {}, "trees": [{}]}}}}}}}})",
      parts.names, parts.objective, parts.base, parts.features, parts.more, parts.booster, parts.info, parts.tree);
}

/// kTree with one thing in it changed.
XgboostParts WithTree(std::string_view from, std::string_view to) {
  XgboostParts parts;
  const size_t at = parts.tree.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  parts.tree.replace(at, from.size(), to);
  return parts;
}

std::string XgboostComplaint(std::string_view text) {
  const auto model = ReadXgboostJson(text);
  if (model) return "";
  EXPECT_EQ(model.error().kind, ErrorKind::kMalformed);
  return model.error().message;
}
std::string XgboostComplaint(const XgboostParts& parts) { return XgboostComplaint(XgboostFile(parts)); }

TEST(XgboostJson, TreesArePredictedAsTheyStand) {
  const auto model = ReadXgboostJson(XgboostFile({}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->feature_count, 2U);
  EXPECT_THAT(model->features, IsEmpty());
  EXPECT_THAT(model->trees.roots, ElementsAre(0U));
  EXPECT_EQ(model->trees.nodes.size(), 5U) << "the pruned node is left behind";
  Predictor predictor;
  predictor.formula = model->trees;
  const auto status = Check(predictor, 2);
  ASSERT_TRUE(status) << status.error().message;
  constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  const auto watts = [&](double x0, double x1) { return Predict(predictor, std::array{x0, x1}); };
  EXPECT_EQ(watts(0.4, 5), 14);
  EXPECT_EQ(watts(kAbsent, 5), 14);
  EXPECT_EQ(watts(0.5, 1), 18) << "at the threshold: right";
  EXPECT_EQ(watts(1, 2), 19);
  EXPECT_EQ(watts(1, kAbsent), 19);
}

TEST(XgboostJson, SeveralTreesAndNames) {
  XgboostParts parts{.names = R"(["cpu_cycles", "cache_miss"])", .info = "[0, 0]"};
  parts.tree += "," + parts.tree;
  const auto model = ReadXgboostJson(XgboostFile(parts));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(model->features, ElementsAre("cpu_cycles", "cache_miss"));
  EXPECT_THAT(model->trees.roots, ElementsAre(0U, 5U));
  Predictor predictor;
  predictor.formula = model->trees;
  ASSERT_TRUE(Check(predictor, 2));
  EXPECT_EQ(Predict(predictor, std::array{0.0, 0.0}), 13);
}

TEST(XgboostJson, BaseScoreOfOldAndNewVersions) {
  EXPECT_EQ(ReadXgboostJson(XgboostFile({.base = "5E-1"}))->trees.base, 0.5F);
  EXPECT_EQ(ReadXgboostJson(XgboostFile({.base = "[1.0733637E1]"}))->trees.base, 10.733637F);
  for (const std::string_view wrong : {"", "[]", "[1,2]", "x", "nan", "inf", "1e99"})
    EXPECT_THAT(XgboostComplaint(XgboostParts{.base = std::string(wrong)}),
                HasSubstr("learner.learner_model_param.base_score"));
}

TEST(XgboostJson, WhatIsNotReadIsNamed) {
  EXPECT_THAT(XgboostComplaint(XgboostParts{.booster = "dart"}), HasSubstr("\"dart\" is not supported; use gbtree"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.booster = "gblinear"}), HasSubstr("gblinear"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.objective = "count:poisson"}),
              HasSubstr("\"count:poisson\" does not predict watts"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.objective = "reg:logistic"}), HasSubstr("reg:logistic"));
  EXPECT_EQ(XgboostComplaint(XgboostParts{.objective = "reg:absoluteerror"}), "");
  EXPECT_THAT(XgboostComplaint(XgboostParts{.more = R"(, "num_target": "2")"}), HasSubstr("num_target: 2: outputs"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.more = R"(, "num_class": "3")"}), HasSubstr("num_class: 3: classes"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.info = "[1]"}), HasSubstr("tree_info: trees of several outputs"));
  EXPECT_THAT(XgboostComplaint(WithTree("\"split_type\": [0", "\"split_type\": [1")), HasSubstr("categorical"));
  EXPECT_THAT(XgboostComplaint(WithTree("vector\": \"1\"", "vector\": \"2\"")), HasSubstr("size_leaf_vector: 2"));
}

TEST(XgboostJson, BrokenTreesAreRefusedWithTheirNumber) {
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[0, 4")), HasSubstr("trees[0]: node 0 has two parents"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, 1")), HasSubstr("trees[0]: node 1 has two parents"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, 5")), HasSubstr("node 5 has two parents"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, 6")), HasSubstr("a child 6, but its nodes are 0 to 5"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, -2")), HasSubstr("a child -2"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, 4.5")), HasSubstr("a child 4.5"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, -1")), HasSubstr("node 1 has only one child"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4", "[2, 1e300")), HasSubstr("a child 1e+300"));
  EXPECT_THAT(XgboostComplaint(WithTree("[0, 1, 0", "[0, 2, 0")),
              HasSubstr("node 1 splits by feature 2, but there are 2"));
  EXPECT_THAT(XgboostComplaint(WithTree("2E0", "2E99")), HasSubstr("is not finite"));
  EXPECT_NE(XgboostComplaint(WithTree("2E0", "NaN")), "");
  EXPECT_THAT(XgboostComplaint(WithTree("[1, 0, 0, 0, 0, 0]", "[1, 0]")),
              HasSubstr("default_left: 2 values, but left_children has 6"));
  EXPECT_THAT(XgboostComplaint(WithTree("[2, 4, -1, -1, -1, -1]", "[]")), HasSubstr("left_children has 0"));
  XgboostParts second;
  second.tree += "," + WithTree("[2, 4", "[2, 6").tree;
  EXPECT_THAT(XgboostComplaint(second), HasSubstr("learner.gradient_booster.model.trees[1]: a child 6"));
}

TEST(XgboostJson, HugeCountsAreRefused) {
  EXPECT_THAT(XgboostComplaint(XgboostParts{.features = "65"}),
              HasSubstr("num_feature: \"65\" is not a number from 0 to 64"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.features = "99999999999999999999"}), HasSubstr("num_feature"));
  EXPECT_THAT(XgboostComplaint(XgboostParts{.names = R"(["a"])"}), HasSubstr("1 names for 2 features"));
}

TEST(XgboostJson, MissingKeysAreNamed) {
  EXPECT_EQ(XgboostComplaint("{}"), "\"learner\" is missing");
  for (const std::string_view key :
       {"objective", "learner_model_param", "base_score", "num_feature", "gradient_booster", "model", "trees",
        "left_children", "right_children", "split_indices", "split_conditions", "default_left"}) {
    std::string text = XgboostFile({});
    text.replace(text.find(fmt::format("\"{}\"", key)) + 1, 1, "X");
    EXPECT_THAT(XgboostComplaint(text), HasSubstr(fmt::format("\"{}\" is missing", key)));
  }
}

TEST(XgboostJson, TruncatedAnywhereIsMalformed) {
  const std::string text = XgboostFile({});
  for (size_t size = 0; size < text.size(); ++size) EXPECT_NE(XgboostComplaint(text.substr(0, size)), "") << size;
}

}  // namespace
}  // namespace kepler::model
