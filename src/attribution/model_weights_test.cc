#include "attribution/model_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "testing/fake_clock.h"

namespace kepler::attribution {
namespace {

using model::Component;
using snapshot::Method;
using std::chrono::milliseconds;
using ::testing::DoubleNear;
using ::testing::ElementsAre;

RC_GTEST_PROP(ShapleyValues, AnyWorths_AddUpToAllLessNone, ()) {
  const auto members = *rc::gen::inRange<size_t>(0, 5);
  std::vector<double> worths(size_t{1} << members);
  for (double& worth : worths) worth = *rc::gen::inRange(-1000, 1000);
  const WorkloadFeatures values = ShapleyValues(worths);
  RC_ASSERT(std::abs(std::accumulate(values.begin(), values.end(), 0.0) - (worths.back() - worths.front())) < 1e-9);
}

TEST(ShapleyValues, WhoBringsTheSameToEverySet_IsWorthThat) {
  EXPECT_THAT(ShapleyValues(std::vector{10.0, 13.0, 15.0, 18.0}), ElementsAre(3, 5, 0, 0));
}

TEST(ShapleyValues, WhatTwoBringOnlyTogether_IsHalfOfEach) {
  EXPECT_THAT(ShapleyValues(std::vector{0.0, 0.0, 0.0, 8.0}), ElementsAre(4, 4, 0, 0));
}

model::Predictor Line(double bias, std::vector<double> weights) {
  return {.limits = {}, .scale = {}, .formula = model::Linear{bias, std::move(weights)}};
}

/// A second in which three users ran, split over a package.
class ModelWeightsTest : public ::testing::Test {
 protected:
  ModelWeightsTest() {
    weights_.SetZones({{{"package", "p", "rapl"}, {"odd", "o", "rapl"}}});
    weights_.SetInterval(std::chrono::seconds(1));
  }
  void Use(std::vector<std::string> features, model::Predictor predictor, model::Range domain = {0, 1e6},
           model::Per per = model::Per::kMachine) {
    auto made = std::make_shared<model::PowerModel>();
    made->per = per;
    made->features = std::move(features);
    made->domain.assign(made->features.size(), domain);
    made->components.push_back({.component = Component::kPackage,
                                .trainer = "linear",
                                .predictor = std::move(predictor),
                                .label = {},
                                .accuracy = {}});
    weights_.SetModel(Component::kPackage, made, 0, {.processor = "x", .cores = 4, .memory_gib = 64});
  }
  void Ran(Nanoseconds time, const HardwareEvents& events = {}) {
    usage_.Add({Usage::Payer::kProcess, 0, {}}, time, events);
  }
  std::vector<double> Shares(size_t zone = 0) {
    weights_.BeginTick();
    const auto weights = weights_.Of(zone, Energy::Joules(1), true);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<double> shares;
    for (const uint64_t weight : weights) shares.push_back(static_cast<double>(weight) / sum);
    return shares;
  }

  testing::FakeClock clock_;
  UsageList usage_;
  ModelWeights weights_{usage_, clock_};
};

TEST_F(ModelWeightsTest, LinearModel_SharesWhatItSaysOfEach) {
  // 0.02 W a millisecond of CPU time, 1 W a million instructions, and 50 W of unattributed idle power.
  Use({"bpf_cpu_time_ms", "cpu_instructions"}, Line(50, {0.02, 1e-6}));
  Ran(milliseconds(500), {1, 5'000'000, 1});   // 10 + 5 W
  Ran(milliseconds(250), {1, 20'000'000, 1});  // 5 + 20 W
  EXPECT_THAT(Shares(), ElementsAre(DoubleNear(15.0 / 40, 1e-9), DoubleNear(25.0 / 40, 1e-9)));
  EXPECT_EQ(weights_.method(0), Method::kModel);
  EXPECT_EQ(weights_.status().predictions, 4u);
}

TEST_F(ModelWeightsTest, OrderOfTheModelsFeatures_IsTheModels) {
  Use({"cpu_instructions", "bpf_cpu_time_ms"}, Line(50, {1e-6, 0.02}));
  Ran(milliseconds(500), {1, 5'000'000, 1});
  Ran(milliseconds(250), {1, 20'000'000, 1});
  EXPECT_THAT(Shares(), ElementsAre(DoubleNear(15.0 / 40, 1e-9), DoubleNear(25.0 / 40, 1e-9)));
}

TEST_F(ModelWeightsTest, ModelPerCore_ItsRatesAreThoseOfOneCpu) {
  // Below 100 ms a second and CPU nothing is added: 400 ms on four CPUs.
  const model::Predictor above{.limits = {{100, 1e6}}, .scale = {}, .formula = model::Linear{0, {1}}};
  Use({"bpf_cpu_time_ms"}, above, {0, 1e6}, model::Per::kCore);
  Ran(milliseconds(390));
  Shares();
  EXPECT_EQ(weights_.method(0), Method::kCpuTime);
  Ran(milliseconds(20));
  Shares();
  EXPECT_EQ(weights_.method(0), Method::kModel);
}

TEST_F(ModelWeightsTest, AttributesOfThisMachine_AddNothingAndAreThere) {
  // Trees: 30 W of load on machines with more than 48 GiB, otherwise none.
  using Node = model::Trees::Node;
  Use({"memory_gib", "bpf_cpu_time_ms"},
      {.limits = {},
       .scale = {},
       .formula = model::Trees{
           .base = 0,
           .roots = {0},
           .nodes = {Node{.value = 48, .left = 1, .right = 2}, Node{.value = 5},
                     Node{.value = 100, .left = 3, .right = 4, .feature = 1}, Node{.value = 5}, Node{.value = 35}}}});
  Ran(milliseconds(200));
  Shares();
  EXPECT_EQ(weights_.method(0), Method::kModel);
}

TEST_F(ModelWeightsTest, Interval_TurnsAmountsIntoRates) {
  // What lies below 100 ms a second counts as 100 ms.
  Use({"bpf_cpu_time_ms"}, {.limits = {{100, 1e6}}, .scale = {}, .formula = model::Linear{0, {1}}});
  Ran(milliseconds(150));
  Shares();
  EXPECT_EQ(weights_.method(0), Method::kModel);
  weights_.SetInterval(std::chrono::seconds(3));  // 50 ms a second
  Shares();
  EXPECT_EQ(weights_.method(0), Method::kCpuTime) << "below its range the model says that nothing adds anything";
  weights_.SetInterval(Nanoseconds(0));
  Shares();
  EXPECT_EQ(weights_.method(0), Method::kCpuTime);
}

TEST_F(ModelWeightsTest, SmallUsersOfATreeModel_ShareWhatItSaysOfAll) {
  // 30 W once the node runs more than half a second a second: nobody alone does.
  model::Trees steps{
      .base = 0, .roots = {0}, .nodes = {{.value = 500, .left = 1, .right = 2}, {.value = 5}, {.value = 35}}};
  Use({"bpf_cpu_time_ms"}, {.limits = {}, .scale = {}, .formula = steps});
  Ran(milliseconds(300));
  Ran(milliseconds(600));
  EXPECT_THAT(Shares(), ElementsAre(DoubleNear(1.0 / 3, 1e-9), DoubleNear(2.0 / 3, 1e-9)));
  EXPECT_EQ(weights_.method(0), Method::kModel);
}

TEST_F(ModelWeightsTest, LineBelowZero_KeepsItsWeights) {
  Use({"bpf_cpu_time_ms", "cpu_cycles"}, Line(-5, {0.1, 1e-6}));
  Ran(milliseconds(100), {1'000'000, 1, 1});  // 10 + 1 W
  Ran(milliseconds(50), {4'000'000, 1, 1});   // 5 + 4 W
  EXPECT_THAT(Shares(), ElementsAre(DoubleNear(11.0 / 20, 1e-9), DoubleNear(9.0 / 20, 1e-9)));
}

TEST_F(ModelWeightsTest, LoadThatSeemsToSaveEnergy_IsSharedByCpuTime) {
  // -10 W for the time, +1 W for the cycles: cycles alone must not decide the shares.
  Use({"bpf_cpu_time_ms", "cpu_cycles"}, Line(100, {-0.1, 1e-6}));
  Ran(milliseconds(25), {1'000'000, 1, 1});
  Ran(milliseconds(75), {1, 1, 1});
  EXPECT_THAT(Shares(), ElementsAre(0.25, 0.75));
  EXPECT_EQ(weights_.method(0), Method::kCpuTime);
}

TEST_F(ModelWeightsTest, NothingToSplit_AsksNoModel) {
  Use({"bpf_cpu_time_ms"}, Line(5, {0.1}));
  Ran(milliseconds(100));
  Shares();
  weights_.BeginTick();
  EXPECT_EQ(weights_.Of(0, Energy{}, true).size(), 1u);
  EXPECT_EQ(weights_.method(0), Method::kModel);
  EXPECT_EQ(weights_.status().predictions, 2u);
}

TEST_F(ModelWeightsTest, WhoHasNoEvents_WeighsAsTheOthersPerNanosecond) {
  Use({"cpu_cycles"}, Line(5, {1e-6}));
  Ran(milliseconds(100), {3'000'000, 1, 1});
  Ran(milliseconds(100), {1'000'000, 1, 1});
  Ran(milliseconds(200));
  EXPECT_THAT(Shares(), ElementsAre(DoubleNear(3.0 / 8, 1e-9), DoubleNear(1.0 / 8, 1e-9), DoubleNear(0.5, 1e-9)));
}

TEST_F(ModelWeightsTest, WhatSeemsToSaveEnergy_CostsNothing) {
  Use({"bpf_cpu_time_ms", "cpu_cycles"}, Line(100, {0.1, -1e-6}));  // 40 - 10 W
  Ran(milliseconds(100), {9'000'000, 1, 1});
  Ran(milliseconds(300), {1'000'000, 1, 1});
  EXPECT_THAT(Shares(), ElementsAre(DoubleNear(0.25, 1e-9), DoubleNear(0.75, 1e-9)));
}

TEST_F(ModelWeightsTest, ModelThatSaysNothing_IsReplacedByCpuTime) {
  Ran(milliseconds(100), {9'000'000, 1, 1});
  Ran(milliseconds(300), {1'000'000, 1, 1});
  const auto by_time = ElementsAre(0.25, 0.75);
  EXPECT_THAT(Shares(), by_time) << "none was set";
  Use({"cpu_cycles"}, Line(30, {0}));
  EXPECT_THAT(Shares(), by_time);
  Use({"cpu_cycles"}, Line(0, {-1}));
  EXPECT_THAT(Shares(), by_time);
  Use({"cpu_cycles"}, Line(0, {std::numeric_limits<double>::max()}));
  Shares();  // held at kMaxWatts
  EXPECT_EQ(weights_.method(0), Method::kModel);
  Use({"cpu_cycles"},
      {.limits = {}, .scale = {}, .formula = model::Curve{.w = {std::numeric_limits<double>::quiet_NaN(), 1, 1, 1}}});
  EXPECT_THAT(Shares(), by_time);
  EXPECT_EQ(weights_.method(0), Method::kCpuTime);
}

TEST_F(ModelWeightsTest, ZoneOfNoComponent_IsSplitByCpuTime) {
  Use({"cpu_cycles"}, Line(5, {1e-6}));
  Ran(milliseconds(100), {3'000'000, 1, 1});
  Ran(milliseconds(100), {1'000'000, 1, 1});
  EXPECT_THAT(Shares(1), ElementsAre(0.5, 0.5));
  EXPECT_EQ(weights_.method(1), Method::kCpuTime);
}

TEST_F(ModelWeightsTest, OutsideTheTrainingDomain_IsCounted) {
  Use({"bpf_cpu_time_ms"}, Line(5, {0.01}), {10, 1e6});
  Ran(milliseconds(9));
  Shares();
  EXPECT_EQ(weights_.status().extrapolated, 1u);
  Ran(milliseconds(1000));
  Shares();
  EXPECT_EQ(weights_.status().extrapolated, 1u);
  Ran(std::chrono::seconds(2000));
  Shares();
  EXPECT_EQ(weights_.status().extrapolated, 2u);
}

RC_GTEST_PROP(ModelWeights, AnyUsersAndAnyLine_WeightsAreFiniteAndFarBelowTheirType, ()) {
  const testing::FakeClock clock;
  UsageList usage;
  ModelWeights weights(usage, clock);
  weights.SetZones({{{"package", "p", "rapl"}}});
  weights.SetInterval(Nanoseconds(*rc::gen::inRange<int64_t>(0, 10'000'000'000)));
  const auto number = [] { return std::ldexp(*rc::gen::inRange(-1000, 1000), *rc::gen::inRange(-60, 60)); };
  auto made = std::make_shared<model::PowerModel>();
  made->features = {"bpf_cpu_time_ms", "cpu_cycles", "cpu_instructions", "cache_miss"};
  made->components.push_back({.component = Component::kPackage,
                              .trainer = "linear",
                              .predictor = Line(number(), {number(), number(), number(), number()}),
                              .label = {},
                              .accuracy = {}});
  weights.SetModel(Component::kPackage, made, 0, {});
  for (int users = *rc::gen::inRange(0, 40); users > 0; --users) {
    const auto count = [] { return *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 50); };
    usage.Add({Usage::Payer::kProcess, 0, {}}, Nanoseconds(*rc::gen::inRange<int64_t>(1, int64_t{1} << 45)),
              *rc::gen::arbitrary<bool>() ? HardwareEvents{count(), count(), count()} : HardwareEvents{});
  }
  weights.BeginTick();
  const auto given = weights.Of(0, Energy::Joules(1), true);
  RC_ASSERT(given.size() == usage.time().size());
  double sum = 0;
  for (const uint64_t weight : given) sum += static_cast<double>(weight);
  RC_ASSERT(sum < 0x1p62);
  RC_ASSERT(given.empty() || sum > 0);
}

}  // namespace
}  // namespace kepler::attribution
