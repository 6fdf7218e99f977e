#include "model/zero_components.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/predictor_test_util.h"

namespace kepler::model {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A tree with the leaves 30, 10 and 20, each multiplied by `factor`.
Trees Leaves(float base, float factor) {
  Trees trees = TwoLevels();
  trees.base = base;
  for (Trees::Node& node : trees.nodes)
    if (node.left == 0) node.value *= factor;
  return trees;
}

TEST(IsZero, Linear_WithoutWeightsThatCount) {
  EXPECT_TRUE(IsZero(Of(Linear{0, {0, 0}})));
  EXPECT_FALSE(IsZero(Of(Linear{0.5, {0, 0}})));
  EXPECT_FALSE(IsZero(Of(Linear{0, {0, 1e-9}})));
  Predictor without_scale = Of(Linear{0, {0, 5}});
  without_scale.scale = {1, 0};
  EXPECT_TRUE(IsZero(without_scale));
}

TEST(IsZero, Polynomial_AndCurves) {
  EXPECT_TRUE(IsZero(Of(Polynomial{0, {0}, {0}})));
  EXPECT_FALSE(IsZero(Of(Polynomial{0, {0}, {1e-9}})));
  EXPECT_TRUE(IsZero(Of(Curve{Curve::Shape::kExponential, 0, {0, 7, 0, 9}})));
  EXPECT_FALSE(IsZero(Of(Curve{Curve::Shape::kExponential, 0, {0, 7, 9, 0}})));
  EXPECT_TRUE(IsZero(Of(Curve{Curve::Shape::kLogistic, 0, {0, 7, 9, 0}})));
  EXPECT_FALSE(IsZero(Of(Curve{Curve::Shape::kLogistic, 0, {0, 7, 0, 9}})));
}

TEST(IsZero, Trees_ByTheSumOfTheirLeaves) {
  EXPECT_TRUE(IsZero(Of(Leaves(0, 0))));
  EXPECT_TRUE(IsZero(Of(Leaves(0, 1e-5F))));
  EXPECT_FALSE(IsZero(Of(Leaves(0, 1e-4F))));
  EXPECT_FALSE(IsZero(Of(Leaves(-20, 1))));
  // XGBoost begins at 0.5 and approaches a target of 0 tree by tree.
  EXPECT_TRUE(IsZero(Of(Trees{0.5F, {0, 1}, {{.value = -0.25F}, {.value = -0.2499F}}})));
}

TEST(IsZero, StoredRows_AndBlends) {
  EXPECT_TRUE(IsZero(Of(Neighbors{1, {1, 2}, {0, 0}})));
  EXPECT_FALSE(IsZero(Of(Neighbors{1, {1, 2}, {0, 1}})));
  EXPECT_TRUE(IsZero(Of(SupportVectors{1, 0, {1}, {0}})));
  EXPECT_FALSE(IsZero(Of(SupportVectors{1, 0, {1}, {2}})));
  EXPECT_TRUE(IsZero(Of(Blend{{0.5, 0.5}, {Of(Linear{0, {0}}), Of(Linear{0, {0}})}})));
  EXPECT_FALSE(IsZero(Of(Blend{{0.5, 0.5}, {Of(Linear{0, {0}}), Of(Linear{0, {1}})}})));
}

PowerModel With(std::initializer_list<std::pair<Component, double>> watts) {
  PowerModel model{.name = "m", .features = {"cpu_cycles"}, .domain = {}, .components = {}, .machine = {}};
  for (const auto& [component, bias] : watts) {
    ComponentModel& added = model.components.emplace_back();
    added.component = component;
    added.predictor = Of(Linear{bias, {0}});
  }
  return model;
}

TEST(DropZeroComponents, KeepsTheOthers) {
  PowerModel model = With({{Component::kPackage, 5}, {Component::kCore, 0}, {Component::kUncore, 0}});
  EXPECT_THAT(*DropZeroComponents(model), ElementsAre(Component::kCore, Component::kUncore));
  EXPECT_EQ(model, With({{Component::kPackage, 5}}));
  EXPECT_THAT(*DropZeroComponents(model), IsEmpty());
}

TEST(DropZeroComponents, NothingLeft_IsAnError) {
  PowerModel model = With({{Component::kCore, 0}, {Component::kUncore, 0}});
  const auto dropped = DropZeroComponents(model);
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(dropped.error().message, HasSubstr("core and every other component give 0 W"));
  EXPECT_EQ(model.components.size(), 2U);
}

}  // namespace
}  // namespace kepler::model
