#include "model/power_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kepler::model {
namespace {

using enum Component;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Row = std::vector<double>;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

/// bias + weight·x of one feature.
ComponentModel Part(Component component, double bias, double weight, Range label = {}) {
  ComponentModel part;
  part.component = component;
  part.predictor.formula = Linear{.bias = bias, .weights = {weight}};
  part.label = label;
  return part;
}

PowerModel ModelOf(std::vector<ComponentModel> components) {
  PowerModel model;
  model.name = "test";
  model.features = {"cpu_cycles"};
  model.components = std::move(components);
  return model;
}

Estimate At(const PowerModel& model, double x, double cores = 1) {
  const auto status = Check(model);
  EXPECT_TRUE(status) << status.error().message;
  return EstimateRow(model, Row{x}, cores);
}

double WattsIn(const Estimate& estimate, Component component) { return estimate.watts[static_cast<size_t>(component)]; }

TEST(ComponentNames, ThereAndBack) {
  for (size_t i = 0; i < kComponents; ++i)
    EXPECT_EQ(ComponentOf(Name(Component{static_cast<uint8_t>(i)})), Component{static_cast<uint8_t>(i)});
  EXPECT_EQ(Name(kUncore), "uncore");
  EXPECT_EQ(ComponentOf("Package"), std::nullopt);
  EXPECT_EQ(Name(OutputType::kDynPower), "DynPower");
  for (const std::string kind : {"Power", "ModelWeight", "ComponentPower", "ComponentModelWeight"}) {
    EXPECT_EQ(OutputTypeOf("Abs" + kind), OutputType::kAbsPower) << kind;
    EXPECT_EQ(OutputTypeOf("Dyn" + kind), OutputType::kDynPower) << kind;
  }
  for (const std::string_view name : {"", "Abs", "Dyn", "Power", "abspower", "AbsPower ", "DynComponent"})
    EXPECT_EQ(OutputTypeOf(name), std::nullopt) << name;
  EXPECT_EQ(Name(Per::kCore), "core");
}

TEST(EstimateRow, WhatTheFormulasSay) {
  const auto estimate = At(ModelOf({Part(kDram, 5, 0.5), Part(kPackage, 10, 2, {10, 100})}), 20);
  EXPECT_EQ(WattsIn(estimate, kPackage), 50);
  EXPECT_EQ(WattsIn(estimate, kDram), 15);
  EXPECT_EQ(WattsIn(estimate, kPlatform), 0);
  EXPECT_FALSE(estimate.clamped);
  EXPECT_FALSE(estimate.extrapolated);
}

TEST(EstimateRow, Negative_IsNothing) {
  const auto estimate = At(ModelOf({Part(kPackage, -1, 0, {10, 100})}), 0);
  EXPECT_EQ(WattsIn(estimate, kPackage), 0);
  EXPECT_TRUE(estimate.clamped);
}

TEST(EstimateRow, AtMostTwiceWhatWasSeen) {
  const auto model = ModelOf({Part(kPackage, 0, 1, {10, 100})});
  EXPECT_EQ(WattsIn(At(model, 200), kPackage), 200);
  EXPECT_FALSE(At(model, 200).clamped);
  EXPECT_EQ(WattsIn(At(model, 201), kPackage), 200);
  EXPECT_TRUE(At(model, 201).clamped);
  EXPECT_EQ(WattsIn(At(ModelOf({Part(kPackage, 0, 1)}), 201), kPackage), 201);
  EXPECT_EQ(WattsIn(At(ModelOf({Part(kPackage, 0, 1)}), kEndless), kPackage), kMaxWatts);
}

TEST(EstimateRow, Missing_TheSmallestThatWasSeen) {
  const auto known = At(ModelOf({Part(kPackage, 0, 1, {10, 100})}), kMissing);
  EXPECT_EQ(WattsIn(known, kPackage), 10);
  EXPECT_TRUE(known.clamped);
  EXPECT_TRUE(known.extrapolated);
  EXPECT_EQ(WattsIn(At(ModelOf({Part(kPackage, 0, 1)}), kMissing), kPackage), 0);
}

TEST(EstimateRow, Missing_TreesKnowWhatToDo) {
  auto model = ModelOf({Part(kPackage, 0, 0)});
  model.components[0].predictor.formula = Trees{
      .base = 1,
      .roots = {0},
      .nodes = {{.value = 0, .left = 1, .right = 2, .feature = 0, .missing_left = true}, {.value = 6}, {.value = 7}}};
  const auto estimate = At(model, kMissing);
  EXPECT_EQ(WattsIn(estimate, kPackage), 7);
  EXPECT_TRUE(estimate.extrapolated);
  EXPECT_FALSE(estimate.clamped);
}

TEST(EstimateRow, OutsideOfItsTraining) {
  auto model = ModelOf({Part(kPackage, 1, 0)});
  model.domain = {{1, 2}};
  EXPECT_FALSE(At(model, 1).extrapolated);
  EXPECT_FALSE(At(model, 2).extrapolated);
  EXPECT_TRUE(At(model, 2.001).extrapolated);
  EXPECT_TRUE(At(model, 0).extrapolated);
}

TEST(EstimateRow, PerCore_CountersAndWattsScaleWithTheMachine) {
  auto model = ModelOf({Part(kPackage, 2, 0.5, {2, 10})});
  model.per = Per::kCore;
  model.domain = {{0, 20}};
  EXPECT_EQ(WattsIn(At(model, 40, 4), kPackage), 4 * (2 + 0.5 * 10));
  EXPECT_FALSE(At(model, 80, 4).extrapolated);
  EXPECT_TRUE(At(model, 81, 4).extrapolated);
  EXPECT_FALSE(At(model, 4 * 36, 4).clamped);
  EXPECT_EQ(WattsIn(At(model, 4 * 40, 4), kPackage), 4 * 20);  // twice the label
  EXPECT_EQ(WattsIn(At(model, kMissing, 4), kPackage), 4 * 2);
}

TEST(EstimateRow, PerCore_AttributesStayAsTheyAre) {
  auto model = ModelOf({Part(kPackage, 0, 1, {0, 5000})});
  model.per = Per::kCore;
  model.features = {"frequency_mhz"};
  EXPECT_EQ(WattsIn(At(model, 3000, 2), kPackage), 2 * 3000);
}

TEST(EstimateRow, PackageHoldsItsCores) {
  const auto estimate = At(ModelOf({Part(kPackage, 10, 0), Part(kCore, 8, 0), Part(kUncore, 4, 0)}), 0);
  EXPECT_EQ(WattsIn(estimate, kPackage), 12);
  EXPECT_EQ(WattsIn(estimate, kCore), 8);
  EXPECT_TRUE(estimate.clamped);
  EXPECT_EQ(WattsIn(At(ModelOf({Part(kCore, 8, 0)}), 0), kPackage), 0);
}

TEST(EstimateRow, PlatformHoldsPackageAndMemory) {
  const auto estimate =
      At(ModelOf({Part(kPlatform, 5, 0, {1, 5}), Part(kDram, 3, 0), Part(kPackage, 10, 0), Part(kCore, 11, 0)}), 0);
  EXPECT_EQ(WattsIn(estimate, kPackage), 11);
  EXPECT_EQ(WattsIn(estimate, kPlatform), 14);
  EXPECT_TRUE(estimate.clamped);
  EXPECT_FALSE(At(ModelOf({Part(kPlatform, 13, 0), Part(kDram, 3, 0), Part(kPackage, 10, 0)}), 0).clamped);
}

RC_GTEST_PROP(EstimateRow, AnyModelAndRow_FiniteAndInOrder, ()) {
  const auto any = [] {
    return *rc::gen::element(-8e307, -5.0, 0.0, 1.0, 40.0, 1e6, 8e307) * *rc::gen::inRange(0, 3) / 2;
  };
  std::vector<ComponentModel> parts;
  for (const auto component : {kPackage, kCore, kUncore, kDram, kPlatform})
    if (*rc::gen::arbitrary<bool>())
      parts.push_back(Part(component, any(), any(), {0, *rc::gen::element(0.0, 50.0, 1e308)}));
  RC_PRE(!parts.empty());
  const auto model = ModelOf(parts);
  const auto estimate = At(model, *rc::gen::element(-1e308, -1.0, 0.0, 3.0, 1e308, kEndless, -kEndless, kMissing));
  const auto has = [&](Component wanted) {
    return std::ranges::find(parts, wanted, &ComponentModel::component) != parts.end();
  };
  for (const double watts : estimate.watts) RC_ASSERT(std::isfinite(watts) && watts >= 0);
  if (has(kPackage)) RC_ASSERT(WattsIn(estimate, kPackage) >= WattsIn(estimate, kCore) + WattsIn(estimate, kUncore));
  if (has(kPlatform)) RC_ASSERT(WattsIn(estimate, kPlatform) >= WattsIn(estimate, kPackage) + WattsIn(estimate, kDram));
}

std::string ModelComplaint(const PowerModel& model) {
  const auto status = Check(model);
  if (status) return "";
  EXPECT_EQ(status.error().kind, ErrorKind::kMalformed);
  return status.error().message;
}

TEST(Check, OfAModel_SaysWhere) {
  const auto broken = [](auto change) {
    auto model = ModelOf({Part(kPackage, 1, 1), Part(kDram, 1, 1)});
    model.machine.emplace();
    change(model);
    return ModelComplaint(model);
  };
  EXPECT_EQ(broken([](PowerModel&) {}), "");
  EXPECT_THAT(broken([](PowerModel& m) { m.features = {"a", "b"}; }),
              StartsWith("components[0].predictor.weights: 1 numbers"));
  EXPECT_THAT(broken([](PowerModel& m) { m.features = {"a", "a"}; }), HasSubstr("features[1]: \"a\" appears twice"));
  EXPECT_THAT(broken([](PowerModel& m) { m.features = {""}; }), StartsWith("features[0]"));
  EXPECT_THAT(broken([](PowerModel& m) { m.features = {"bpf_cpu_time_us"}; }), HasSubstr("bpf_cpu_time_ms"));
  EXPECT_THAT(broken([](PowerModel& m) { m.features = {"\xff"}; }), HasSubstr("UTF-8"));
  EXPECT_THAT(broken([](PowerModel& m) { m.features.clear(); }), HasSubstr("features: 0"));
  EXPECT_THAT(broken([](PowerModel& m) { m.name.assign(300, 'x'); }), StartsWith("name: "));
  EXPECT_THAT(broken([](PowerModel& m) { m.domain = {{0, 1}, {0, 1}}; }), StartsWith("domain: 2 ranges"));
  EXPECT_THAT(broken([](PowerModel& m) { m.domain = {{1, 0}}; }), StartsWith("domain[0]"));
  EXPECT_THAT(broken([](PowerModel& m) { m.components.clear(); }),
              StartsWith("components: a model needs at least one"));
  EXPECT_THAT(broken([](PowerModel& m) { m.components[1].component = kPackage; }),
              StartsWith("components[1]: a second package"));
  EXPECT_THAT(broken([](PowerModel& m) { m.components[1].label = {0, kEndless}; }), StartsWith("components[1].label"));
  EXPECT_THAT(broken([](PowerModel& m) { m.components[1].accuracy = Accuracy{.r2 = kMissing}; }),
              StartsWith("components[1].accuracy"));
  EXPECT_THAT(broken([](PowerModel& m) { m.components[1].accuracy = Accuracy{.mape = -1}; }),
              StartsWith("components[1].accuracy: an error must not be negative"));
  EXPECT_THAT(broken([](PowerModel& m) { m.machine->processor = "\xff"; }), StartsWith("machine.processor"));
}

}  // namespace
}  // namespace kepler::model
