// Which predictors are refused, and where they are wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/features.h"
#include "model/predictor.h"
#include "model/predictor_test_util.h"

namespace kepler::model {
namespace {

using ::testing::HasSubstr;

std::string Complaint(const Predictor& predictor, size_t features) {
  const auto status = Check(predictor, features);
  if (status) return "";
  EXPECT_EQ(status.error().kind, ErrorKind::kMalformed);
  return status.error().message;
}

template <class Formula>
std::string Complaint(Formula formula, size_t features) {
  return Complaint(Of(std::move(formula)), features);
}

TEST(Check, SizesFitTheFeatures) {
  EXPECT_THAT(Complaint(Linear{.bias = 0, .weights = {1, 2, 3}}, 4), HasSubstr("weights: 3 numbers, expected 4"));
  EXPECT_THAT(Complaint(Polynomial{.bias = 0, .weights = {1, 2}, .products = {1, 2}}, 2), HasSubstr("products: 2 "));
  EXPECT_THAT(Complaint(Neighbors{.k = 1, .points = {1, 2, 3}, .labels = {1}}, 2), HasSubstr("points: 3 "));
  EXPECT_THAT(Complaint(SupportVectors{.gamma = 1, .bias = 0, .vectors = {1}, .coefficients = {1}}, 2),
              HasSubstr("vectors: 1 "));
  EXPECT_THAT(Complaint(Curve{.shape = Curve::Shape::kLogistic, .feature = 2, .w = {}}, 2),
              HasSubstr("feature: no feature 2"));
  auto predictor = Of(Linear{.bias = 0, .weights = {1, 2}});
  predictor.scale = {1};
  EXPECT_THAT(Complaint(predictor, 2), HasSubstr("scale: 1 "));
  predictor.scale.clear();
  predictor.limits = {{0, 1}};
  EXPECT_THAT(Complaint(predictor, 2), HasSubstr("limits: 1 "));
  EXPECT_THAT(Complaint(Linear{}, 0), HasSubstr("features: 0"));
  EXPECT_THAT(Complaint(Linear{.bias = 0, .weights = std::vector<double>(kMaxFeatures + 1)}, kMaxFeatures + 1),
              HasSubstr("features: 65"));
}

TEST(Check, EveryNumberIsFinite) {
  EXPECT_THAT(Complaint(Linear{.bias = kNone, .weights = {1}}, 1), HasSubstr("bias: not a finite"));
  EXPECT_THAT(Complaint(Linear{.bias = 0, .weights = {1, kInfinity}}, 2), HasSubstr("weights[1]: not a finite"));
  EXPECT_THAT(Complaint(Curve{.w = {0, 0, 0, kNone}}, 1), HasSubstr("w[3]"));
  EXPECT_THAT(Complaint(Neighbors{.k = 1, .points = {1}, .labels = {kInfinity}}, 1), HasSubstr("labels[0]"));
  EXPECT_THAT(Complaint(SupportVectors{.gamma = -1, .bias = 0, .vectors = {}, .coefficients = {}}, 1),
              HasSubstr("gamma"));
  auto trees = TwoLevels();
  trees.nodes[3].value = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Complaint(trees, 2), HasSubstr("value[3]"));
  auto predictor = Of(Linear{.bias = 0, .weights = {1}});
  predictor.limits = {{2, 1}};
  EXPECT_THAT(Complaint(predictor, 1), HasSubstr("limits[0]"));
}

TEST(Check, EveryTreeEnds) {
  const auto broken = [](auto change) {
    auto trees = TwoLevels();
    change(trees);
    return Complaint(trees, 2);
  };
  EXPECT_EQ(broken([](Trees&) {}), "");
  EXPECT_THAT(broken([](Trees& t) { t.nodes[1].left = 1; }), HasSubstr("left[1]: 1; a child must be after"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[1].right = 0; }), HasSubstr("right[1]: 0"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[2].right = 3; }), HasSubstr("left[2]: 0"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[1].right = 5; }), HasSubstr("right[1]: 5"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[1].feature = 2; }), HasSubstr("feature[1]: no feature 2"));
  EXPECT_THAT(broken([](Trees& t) { t.roots = {0, 0}; }), HasSubstr("roots[1]: 0"));
  EXPECT_THAT(broken([](Trees& t) { t.roots = {5}; }), HasSubstr("roots[0]: 5"));
}

TEST(Check, TreesShareNothing) {
  using Node = Trees::Node;
  const Trees two{.base = 0,
                  .roots = {0, 3},
                  .nodes = {Node{.left = 1, .right = 2}, Node{}, Node{}, Node{.left = 4, .right = 5}, Node{}, Node{}}};
  EXPECT_EQ(Complaint(two, 1), "");
  const auto broken = [&two](auto change) {
    Trees trees = two;
    change(trees);
    return Complaint(trees, 1);
  };
  EXPECT_THAT(broken([](Trees& t) { t.nodes[0].right = 1; }),
              HasSubstr("right[0]: 1 is already the child of another node"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[0].right = 4; }), HasSubstr("right[0]: 4; a child must be after"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[0].right = 3; }), HasSubstr("before the end of its tree, 3"));
  EXPECT_THAT(broken([](Trees& t) { t.nodes[0].left = t.nodes[0].right = 0; }), HasSubstr("nodes: 1 is neither"));
  EXPECT_THAT(broken([](Trees& t) { t.roots = {3}; }), HasSubstr("nodes: 0 is neither"));
  EXPECT_THAT(broken([](Trees& t) { t.roots.clear(); }), HasSubstr("nodes: 0 is neither"));
  Trees chain{.base = 0, .roots = {0}, .nodes = std::vector<Node>(1000)};
  for (uint32_t i = 0; i + 1 < 1000; ++i) chain.nodes[i] = {.left = i + 1, .right = i + 1};
  EXPECT_THAT(Complaint(chain, 1), HasSubstr("right[0]: 1 is already the child of another node"));
}

TEST(Check, NeighborsThatAreThere) {
  EXPECT_THAT(Complaint(Neighbors{.k = 0, .points = {1}, .labels = {1}}, 1), HasSubstr("k: 0"));
  EXPECT_THAT(Complaint(Neighbors{.k = 2, .points = {1}, .labels = {1}}, 1), HasSubstr("k: 2"));
  EXPECT_THAT(Complaint(Neighbors{.k = 65, .points = std::vector<double>(70), .labels = std::vector<double>(70)}, 1),
              HasSubstr("k: 65"));
  EXPECT_EQ(Complaint(Neighbors{.k = 64, .points = std::vector<double>(70), .labels = std::vector<double>(70)}, 1), "");
}

TEST(Check, BlendsOfWeightOneAndOneLevel) {
  const auto part = Of(Linear{.bias = 0, .weights = {1}});
  Blend blend;
  EXPECT_THAT(Complaint(blend, 1), HasSubstr("parts: a blend needs at least one"));
  blend.parts = {part, part};
  blend.weights = {1};
  EXPECT_THAT(Complaint(blend, 1), HasSubstr("weights: 1 numbers for 2 parts"));
  blend.weights = {0.5, 0.4};
  EXPECT_THAT(Complaint(blend, 1), HasSubstr("sum"));
  blend.weights = {1.5, -0.5};
  EXPECT_THAT(Complaint(blend, 1), HasSubstr("weights[1]"));
  blend.weights = {0.5, 0.5};
  EXPECT_EQ(Complaint(blend, 1), "");
  EXPECT_THAT(Complaint(blend, 2), HasSubstr("parts[0].weights: 1 numbers"));
  blend.parts[1] = Of(Blend{blend});
  EXPECT_THAT(Complaint(blend, 1), HasSubstr("parts[1]: a blend must not contain a blend"));
}

}  // namespace
}  // namespace kepler::model
