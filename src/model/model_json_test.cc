#include "model/model_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace kepler::model {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kSmall = R"({"kepler_model": 1,
"name": "test", "version": 3, "output": "AbsPower", "features": ["cache_miss", "cpu_cycles"],
"domain": [[0, 10], [5, 1e9]],
"machine": {"processor": "amd_epyc_7763", "cores": 128, "is_guest": true,
  "cpuid": {"vendor": "AuthenticAMD", "family": 25, "model": 1, "features": ["avx2"]}},
"components": [
 {"component": "package", "trainer": "linear", "label": [30.5, 200],
  "accuracy": {"rows": 220, "mae_watts": 3.5, "mape": 4.25, "r2": -0.5},
  "tested": {"actual": [10, 20.5], "predicted": [11, 19.25]},
  "unseen": {"rows": 44, "mae_watts": 7, "mape": 9, "r2": 0.25},
  "predictor": {"formula": "linear", "scale": [10, 0], "limits": [[0, 1], [2, 3]], "bias": -1.5, "weights": [1, 2]}},
 {"component": "dram", "trainer": "", "label": [0, 0],
  "predictor": {"formula": "curve", "shape": "logistic", "feature": 1, "w": [1, 2, 3, 4]}}
]})";

/// kSmall with `from`, which stands in it, as `to`.
std::string With(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string WhyNot(std::string_view text) {
  const auto model = ReadModelJson(text);
  if (model) return "";
  EXPECT_EQ(model.error().kind, ErrorKind::kMalformed);
  return model.error().message;
}

TEST(ReadModelJson, Per_IsTheMachineUnlessTheFileSaysCore) {
  EXPECT_EQ(ReadModelJson(kSmall)->per, Per::kMachine);
  EXPECT_EQ(ReadModelJson(With("\"AbsPower\",", "\"AbsPower\", \"per\": \"machine\","))->per, Per::kMachine);
  EXPECT_EQ(ReadModelJson(With("\"AbsPower\",", "\"AbsPower\", \"per\": \"core\","))->per, Per::kCore);
  EXPECT_THAT(WhyNot(With("\"AbsPower\",", "\"AbsPower\", \"per\": \"socket\",")),
              HasSubstr("per: \"socket\" is neither machine nor core"));
  EXPECT_THAT(WhyNot(With("\"AbsPower\",", "\"AbsPower\", \"per\": 1,")), HasSubstr("per: "));
  EXPECT_THAT(WriteModelJson(*ReadModelJson(kSmall)), testing::Not(HasSubstr("\"per\"")));
}

TEST(ReadModelJson, EveryField) {
  const auto model = ReadModelJson(kSmall);
  ASSERT_TRUE(model) << model.error().message;
  PowerModel wanted;
  wanted.name = "test";
  wanted.version = 3;
  wanted.features = {"cache_miss", "cpu_cycles"};
  wanted.domain = {{0, 10}, {5, 1e9}};
  wanted.machine =
      MachineSpec{.processor = "amd_epyc_7763", .cores = 128, .chips = 0, .memory_gib = 0, .frequency_mhz = 0};
  wanted.machine->cpuid = {"AuthenticAMD", 25, 1, {"avx2"}};
  wanted.machine->is_guest = true;
  ComponentModel package{.component = Component::kPackage,
                         .trainer = "linear",
                         .predictor = {},
                         .label = {30.5, 200},
                         .accuracy = Accuracy{220, 3.5, 4.25, -0.5},
                         .unseen = Accuracy{44, 7, 9, 0.25},
                         .tested = {{10, 20.5}, {11, 19.25}}};
  package.predictor = {.limits = {{0, 1}, {2, 3}}, .scale = {10, 0}, .formula = Linear{-1.5, {1, 2}}};
  ComponentModel dram{
      .component = Component::kDram, .trainer = {}, .predictor = {}, .label = {}, .accuracy = {}, .unseen = {}};
  dram.predictor.formula = Curve{Curve::Shape::kLogistic, 1, {1, 2, 3, 4}};
  wanted.components = {package, dram};
  EXPECT_EQ(*model, wanted);
}

TEST(ReadModelJson, OtherFiles_AreNamed) {
  EXPECT_THAT(WhyNot(""), HasSubstr("parse JSON: the text is empty"));
  EXPECT_THAT(WhyNot("{}"), HasSubstr("\"kepler_model\" is missing"));
  EXPECT_THAT(WhyNot("[1]"), HasSubstr("expected an object"));
  EXPECT_THAT(WhyNot(With("\"kepler_model\": 1", "\"kepler_model\": 2")),
              HasSubstr("kepler_model: version 2 is not supported; this program reads version 1"));
  EXPECT_THAT(WhyNot(With("\"kepler_model\": 1", "\"kepler_model\": 1, \"kepler_model\": 1")), HasSubstr("twice"));
}

TEST(ReadModelJson, WhatDoesNotFit_IsSaidWithItsPlace) {
  EXPECT_THAT(WhyNot(With("\"weights\": [1, 2]", "\"weights\": [1, 2, 3]")),
              HasSubstr("components[0].predictor.weights: 3 numbers, expected 2"));
  EXPECT_THAT(WhyNot(With("\"weights\": [1, 2]", "\"weights\": [1, \"2\"]")),
              HasSubstr("components[0].predictor.weights"));
  EXPECT_THAT(WhyNot(With("\"weights\": [1, 2]", "\"weight\": [1, 2]")),
              AllOf(HasSubstr("components[0].predictor: unknown key \"weight\""), HasSubstr("did you mean weights?")));
  EXPECT_THAT(WhyNot(With("\"bias\": -1.5, ", "")), HasSubstr("components[0].predictor: \"bias\" is missing"));
  EXPECT_THAT(WhyNot(With("\"bias\": -1.5", "\"bias\": 1e400")), HasSubstr("1e400 is too large"));
  EXPECT_THAT(WhyNot(With("\"linear\", \"scale\"", "\"cubic\", \"scale\"")),
              HasSubstr("components[0].predictor.formula: \"cubic\" is not one of linear, polynomial"));
  EXPECT_THAT(WhyNot(With("\"feature\": 1", "\"feature\": 2")),
              HasSubstr("components[1].predictor.feature: no feature 2"));
  EXPECT_THAT(WhyNot(With("\"feature\": 1", "\"feature\": -1")), HasSubstr("components[1].predictor.feature: -1"));
  EXPECT_THAT(WhyNot(With("[1, 2, 3, 4]", "[1, 2, 3]")), HasSubstr("w: 3 numbers instead of 4"));
  EXPECT_THAT(WhyNot(With("\"logistic\"", "\"square\"")), HasSubstr("shape: \"square\" is not one of"));
  EXPECT_THAT(WhyNot(With("\"dram\"", "\"gpu\"")), HasSubstr("components[1].component: \"gpu\" is not one of package"));
  EXPECT_THAT(WhyNot(With("\"dram\"", "\"package\"")), HasSubstr("components[1]: a second package"));
  EXPECT_THAT(WhyNot(With("[5, 1e9]", "[5]")), HasSubstr("domain[1]: 1 numbers instead of [min, max]"));
  EXPECT_THAT(WhyNot(With("AbsPower", "Power")), HasSubstr("output: \"Power\" is neither"));
  EXPECT_THAT(WhyNot(With("\"cores\": 128", "\"cores\": 1.5")), HasSubstr("machine.cores: 1.5"));
  EXPECT_THAT(WhyNot(With("\"cores\": 128", "\"threads\": 1")), HasSubstr("machine: unknown key \"threads\""));
  EXPECT_THAT(WhyNot(With("\"family\": 25", "\"family\": -1")), HasSubstr("machine.cpuid.family: -1"));
  EXPECT_THAT(WhyNot(With("\"AuthenticAMD\"", "\"\"")), HasSubstr("machine.cpuid: the vendor is empty"));
  EXPECT_THAT(WhyNot(With("\"is_guest\": true", "\"is_guest\": 1")), HasSubstr("machine.is_guest: "));
  EXPECT_THAT(WhyNot(With("\"rows\": 220", "\"rows\": -1")), HasSubstr("components[0].accuracy.rows"));
  EXPECT_THAT(WhyNot(With("[10, 20.5]", "[10]")), HasSubstr("components[0].tested: 1 actual and 2 predicted watts"));
  EXPECT_THAT(WhyNot(With("[10, 20.5]", "[10, -1]")), HasSubstr("components[0].tested: a value is not from 0 to"));
  EXPECT_THAT(WhyNot(With("\"actual\": [10, 20.5], ", "")), HasSubstr("components[0].tested: \"actual\" is missing"));
  EXPECT_THAT(WhyNot(With("cpu_cycles", "cache_miss")), HasSubstr("features[1]: \"cache_miss\" appears twice"));
  EXPECT_THAT(WhyNot(With("\"test\"", "\"\xff\"")), HasSubstr("parse JSON"));
}

TEST(ReadModelJson, Truncated_NowhereAModel) {
  for (size_t size = 0; size < kSmall.size(); ++size) EXPECT_NE(WhyNot(kSmall.substr(0, size)), "") << size;
}

TEST(ReadModelJson, Trees_ColumnsAndTheirFaults) {
  const auto with = [](std::string_view trees) {
    return With(R"("formula": "curve", "shape": "logistic", "feature": 1, "w": [1, 2, 3, 4])", trees);
  };
  const auto model = ReadModelJson(with(R"("formula": "trees", "base": 0.5, "roots": [0], "value": [7, 0.1, 2],
    "left": [1, 0, 0], "right": [2, 0, 0], "feature": [1, 0, 0], "missing_left": [1, 0, 0])"));
  ASSERT_TRUE(model) << model.error().message;
  const Trees wanted{.base = 0.5F, .roots = {0}, .nodes = {{7, 1, 2, 1, true}, {.value = 0.1F}, {.value = 2}}};
  EXPECT_EQ(std::get<Trees>(model->components[1].predictor.formula), wanted);
  EXPECT_THAT(WhyNot(with(R"("formula": "trees", "base": 0, "roots": [0], "value": [1, 2],
    "left": [0], "right": [0], "feature": [0], "missing_left": [0])")),
              HasSubstr("components[1].predictor: the nodes have 2 numbers in \"value\", but 1"));
  EXPECT_THAT(WhyNot(with(R"("formula": "trees", "base": 0, "roots": [0], "value": [1],
    "left": [0.5], "right": [0], "feature": [0], "missing_left": [0])")),
              HasSubstr("components[1].predictor.left: [0]: 0.5 is not a whole number"));
  EXPECT_THAT(WhyNot(with(R"("formula": "trees", "base": 0, "roots": [0], "value": [1],
    "left": [0], "right": [0], "feature": [65536], "missing_left": [0])")),
              HasSubstr("feature: [0]: 65536"));
  EXPECT_THAT(WhyNot(with(R"("formula": "trees", "base": 1e39, "roots": [], "value": [],
    "left": [], "right": [], "feature": [], "missing_left": [])")),
              HasSubstr("components[1].predictor.base: not a finite"));
}

TEST(ReadModelJson, BlendsWithinBlends_AreRefused) {
  std::string part = R"({"formula": "linear", "bias": 0, "weights": [1, 2]})";
  for (int depth = 1; depth < 40; ++depth) {
    part = R"({"formula": "blend", "weights": [1], "parts": [)" + part + "]}";
    const std::string text =
        With(R"({"formula": "curve", "shape": "logistic", "feature": 1, "w": [1, 2, 3, 4]})", part);
    EXPECT_EQ(WhyNot(text).empty(), depth == 1) << depth;
  }
}

TEST(WriteModelJson, SmallModel_ReadsTheSame) {
  const auto model = ReadModelJson(kSmall);
  const std::string text = WriteModelJson(*model);
  EXPECT_EQ(*ReadModelJson(text), *model) << text;
}

TEST(WriteModelJson, FloatsThatRoundTwice) {
  const std::string text = With(R"("formula": "curve", "shape": "logistic", "feature": 1, "w": [1, 2, 3, 4])",
                                R"("formula": "trees", "base": 0, "roots": [], "value": [],
    "left": [], "right": [], "feature": [], "missing_left": [])");
  auto model = *ReadModelJson(text);
  auto& base = std::get<Trees>(model.components[1].predictor.formula).base;
  base = std::bit_cast<float>(0x15ae43fd);  // its shortest text, 7.038531e-26, as a double is halfway to its neighbour
  EXPECT_EQ(*ReadModelJson(WriteModelJson(model)), model);
}

double AnyFinite() {
  const auto number = std::bit_cast<double>(*rc::gen::arbitrary<uint64_t>());
  return std::isfinite(number) ? number : 0.1;
}
float AnyFloat() {
  const auto number = std::bit_cast<float>(*rc::gen::arbitrary<uint32_t>());
  return std::isfinite(number) ? number : 0.1F;
}
std::vector<double> AnyNumbers(size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = AnyFinite();
  return numbers;
}
Range AnyRange() {
  const double a = AnyFinite();
  const double b = AnyFinite();
  return {std::min(a, b), std::max(a, b)};
}
std::string AnyName() { return *rc::gen::container<std::string>(rc::gen::inRange('\1', '\x7f')); }

Trees AnyTrees(size_t features) {
  Trees trees{.base = AnyFloat(), .roots = {}, .nodes = {}};
  const auto add_leaf = [&trees] {
    trees.nodes.push_back({.value = AnyFloat()});
    return static_cast<uint32_t>(trees.nodes.size() - 1);
  };
  for (int count = *rc::gen::inRange(0, 4); count > 0; --count) {
    const uint32_t root = add_leaf();
    trees.roots.push_back(root);
    for (uint32_t i = root; i < trees.nodes.size() && trees.nodes.size() < root + 9; ++i) {
      if (!*rc::gen::arbitrary<bool>()) continue;
      const uint32_t left = add_leaf();
      const uint32_t right = add_leaf();
      trees.nodes[i] = {trees.nodes[i].value, left, right,
                        *rc::gen::inRange<uint16_t>(0, static_cast<uint16_t>(features)), *rc::gen::arbitrary<bool>()};
    }
  }
  return trees;
}

Predictor AnyPredictor(size_t n, bool blend = true) {
  Predictor predictor;
  if (*rc::gen::arbitrary<bool>()) predictor.scale = AnyNumbers(n);
  for (size_t i = 0; i < n && (i > 0 ? !predictor.limits.empty() : *rc::gen::arbitrary<bool>()); ++i)
    predictor.limits.push_back(AnyRange());
  switch (*rc::gen::inRange(0, blend ? 7 : 6)) {
    case 0:
      predictor.formula = Linear{AnyFinite(), AnyNumbers(n)};
      break;
    case 1:
      predictor.formula = Polynomial{AnyFinite(), AnyNumbers(n), AnyNumbers(n * (n + 1) / 2)};
      break;
    case 2: {
      Curve curve{*rc::gen::element(Curve::Shape::kExponential, Curve::Shape::kLogarithmic, Curve::Shape::kLogistic),
                  static_cast<uint32_t>(n - 1),
                  {}};
      for (double& w : curve.w) w = AnyFinite();
      predictor.formula = curve;
      break;
    }
    case 3:
      predictor.formula = AnyTrees(n);
      break;
    case 4:
      predictor.formula = Neighbors{2, AnyNumbers(3 * n), AnyNumbers(3)};
      break;
    case 5:
      predictor.formula = SupportVectors{std::abs(AnyFinite()), AnyFinite(), AnyNumbers(2 * n), AnyNumbers(2)};
      break;
    default:
      predictor.formula = Blend{{0.25, 0.75}, {AnyPredictor(n, false), AnyPredictor(n, false)}};
  }
  return predictor;
}

RC_GTEST_PROP(WriteModelJson, AnyModel_ReadsTheSame, ()) {
  PowerModel model;
  model.name = AnyName();
  model.version = *rc::gen::arbitrary<uint32_t>();
  model.per = *rc::gen::element(Per::kMachine, Per::kCore);
  model.output = *rc::gen::element(OutputType::kAbsPower, OutputType::kDynPower);
  const auto n = *rc::gen::inRange<size_t>(1, 5);
  for (size_t i = 0; i < n; ++i) model.features.push_back(AnyName() + std::to_string(i));
  if (*rc::gen::arbitrary<bool>())
    for (size_t i = 0; i < n; ++i) model.domain.push_back(AnyRange());
  if (*rc::gen::arbitrary<bool>())
    model.machine = MachineSpec{AnyName(),
                                *rc::gen::arbitrary<uint32_t>(),
                                *rc::gen::arbitrary<uint32_t>(),
                                *rc::gen::arbitrary<uint32_t>(),
                                *rc::gen::arbitrary<uint32_t>(),
                                *rc::gen::arbitrary<uint32_t>()};
  for (const auto component : {Component::kPlatform, Component::kPackage}) {
    ComponentModel part{component, AnyName(), AnyPredictor(n), AnyRange(), std::nullopt, std::nullopt, {}};
    for (auto rows = *rc::gen::inRange(0, 3); rows > 0; --rows) {
      part.tested.actual.push_back(*rc::gen::inRange(0, 1'000'000) / 1000.0);
      part.tested.predicted.push_back(*rc::gen::inRange(0, 1'000'000) / 1000.0);
    }
    if (*rc::gen::arbitrary<bool>())
      part.accuracy = Accuracy{*rc::gen::inRange<uint64_t>(0, uint64_t{1} << 53), std::abs(AnyFinite()),
                               std::abs(AnyFinite()), AnyFinite()};
    if (*rc::gen::arbitrary<bool>())
      part.unseen = Accuracy{7, std::abs(AnyFinite()), std::abs(AnyFinite()), AnyFinite()};
    model.components.push_back(std::move(part));
  }
  const auto status = Check(model);
  RC_ASSERT(status.has_value());
  const std::string text = WriteModelJson(model);
  const auto read = ReadModelJson(text);
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == model);
  RC_ASSERT(WriteModelJson(*read) == text);
}

}  // namespace
}  // namespace kepler::model
