#include "pipeline/workload_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using snapshot::Method;
using std::chrono::milliseconds;

model::KnownModel Line(std::string name, std::vector<std::string> features, model::Linear line) {
  model::KnownModel known{.model = {.name = std::move(name),
                                    .features = std::move(features),
                                    .domain = {},
                                    .components = {},
                                    .machine = {}},
                          .source = std::string("/m/model.json"),
                          .chosen = true};
  known.model.components.push_back({.component = model::Component::kPackage,
                                    .trainer = "linear",
                                    .predictor = {.limits = {}, .scale = {}, .formula = std::move(line)},
                                    .label = {},
                                    .accuracy = {}});
  return known;
}

/// A node of two processes whose package shall be split by a model.
class WorkloadModelsTest : public ::testing::Test {
 protected:
  WorkloadModelsTest() {
    NodeParts parts{node_.activity, *node_.meters, node_.resolver, node_.board, node_.clock, node_.proc.root()};
    parts.models.board = board_;
    parts.models.cpu_time = [this] { return cpu_time_ += step_; };
    node_.tick = std::make_unique<NodeTick>(std::move(parts), attribution::RetentionPolicy{},
                                            SplitOptions{.weights = CpuWeights::kModel});
    node_.activity.Start(0, 10, "a");
    node_.activity.Start(1, 11, "b");
    Second();
  }
  void Set(std::vector<model::KnownModel> models) {
    model::ModelSet set;
    for (auto& known : models) set.push_back(std::make_shared<const model::KnownModel>(std::move(known)));
    board_->Set(std::make_shared<const model::ModelSet>(std::move(set)));
  }
  /// Each ran 100 ms of it; the first had three times the instructions. 8 of 16 J are active.
  void Second() {
    for (const activity::Slot slot : {0u, 1u}) {
      node_.activity.processes[slot].cpu = milliseconds(100);
      if (counted_) node_.activity.processes[slot].events = {1000, slot == 0 ? 3000u : 1000u, 1};
    }
    node_.activity.current.counts_events = counted_;
    node_.Second(16);
    if (node_.Latest()) ExpectConserved(*node_.Latest());
  }
  Method method() const { return node_.Latest()->methods[0]; }
  int64_t JoulesOfTheFirst() const { return Joules(node_.Latest()->processes.energy_at(0, 0)); }
  const status::EstimateStatus& status() const { return node_.Latest()->estimates.back(); }

  TestNode node_;
  std::shared_ptr<model::ModelBoard> board_ = std::make_shared<model::ModelBoard>();
  Nanoseconds cpu_time_{0};
  Nanoseconds step_ = std::chrono::microseconds(2);
  bool counted_ = true;
};

TEST_F(WorkloadModelsTest, NoModel_CpuTimeSplits) {
  Second();
  EXPECT_EQ(method(), Method::kCpuTime);
  EXPECT_EQ(JoulesOfTheFirst(), 4);
  EXPECT_TRUE(status().models->empty());
}

TEST_F(WorkloadModelsTest, ModelThatComes_SplitsFromThenOn) {
  Second();
  Set({Line("mine", {"cpu_instructions"}, {20, {0.01}})});
  Second();
  EXPECT_EQ(method(), Method::kModel);
  EXPECT_EQ(JoulesOfTheFirst(), 4 + 6);
  ASSERT_EQ(status().models->size(), 1u);
  EXPECT_TRUE(status().of_workloads);
  EXPECT_EQ(status().models->front().name, "mine");
  EXPECT_EQ(status().models->front().zone, "package");
  EXPECT_EQ(status().predictions, 2u);
  Set({});
  Second();
  EXPECT_EQ(method(), Method::kCpuTime);
  EXPECT_TRUE(status().models->empty());
}

TEST_F(WorkloadModelsTest, EventsThatAreNoLongerCounted_AModelWithoutThemIsChosen) {
  Set({Line("events", {"cpu_instructions"}, {20, {0.01}}), Line("time", {"bpf_cpu_time_ms"}, {20, {0.01}})});
  Second();
  EXPECT_EQ(status().models->front().name, "events") << "by name, as neither states an error";
  counted_ = false;
  Second();
  EXPECT_EQ(status().models->front().name, "time");
  EXPECT_EQ(method(), Method::kModel);
}

TEST_F(WorkloadModelsTest, ModelOfWhatOnlyTheNodeHas_IsNotUsed) {
  Set({Line("irq", {"bpf_cpu_time_ms", "bpf_net_rx_irq"}, {20, {0.01, 0.01}})});
  Second();
  EXPECT_EQ(method(), Method::kCpuTime);
}

TEST_F(WorkloadModelsTest, AttributeThatIsNotKnown_ItsModelIsNotUsed) {
  Set({Line("memory", {"bpf_cpu_time_ms", "memory_gib"}, {20, {0.01, 0.01}})});
  Second();
  EXPECT_EQ(method(), Method::kCpuTime);
}

/// 30 W once 300 ms a second run.
model::KnownModel Step() {
  auto known = Line("step", {"bpf_cpu_time_ms"}, {});
  known.model.domain = {{0, 250}};
  known.model.components[0].predictor.formula = model::Trees{
      .base = 0, .roots = {0}, .nodes = {{.value = 300, .left = 1, .right = 2}, {.value = 5}, {.value = 35}}};
  return known;
}

TEST_F(WorkloadModelsTest, AfterAScanThatFailed_WhatRanIsOverTheTimeSinceTheLastGoodOne) {
  Set({Step()});
  Second();
  EXPECT_EQ(method(), Method::kCpuTime) << "200 ms a second add nothing";
  const uint64_t before = status().extrapolated;
  node_.activity.broken = true;
  for (int i = 0; i < 2; ++i) node_.Second(16);
  node_.activity.broken = false;
  for (const activity::Slot slot : {0u, 1u}) node_.activity.processes[slot].cpu = milliseconds(300);
  node_.Second(16);
  EXPECT_EQ(method(), Method::kCpuTime) << "600 ms in three seconds";
  EXPECT_EQ(status().extrapolated, before);
  ExpectConserved(*node_.Latest());
}

TEST_F(WorkloadModelsTest, MissedDeadline_CpuTimeSplits) {
  Set({Line("mine", {"cpu_instructions"}, {20, {0.01}})});
  Second();
  ASSERT_EQ(method(), Method::kModel);
  for (const activity::Slot slot : {0u, 1u}) {
    node_.activity.processes[slot].cpu = milliseconds(100);
    node_.activity.processes[slot].events = {1000, 1000, 1};
  }
  node_.clock.Advance(std::chrono::seconds(100));
  node_.counter += 16'000'000;
  node_.SetStat(1000, 1000);
  node_.tick->Run(3);
  EXPECT_EQ(method(), Method::kCpuTime) << "the machine may have slept";
  ExpectConserved(*node_.Latest());
}

TEST_F(WorkloadModelsTest, SlowModel_IsNotUsed) {
  step_ = WorkloadModels::kSlowest + Nanoseconds(1);
  Set({Line("slow", {"bpf_cpu_time_ms"}, {20, {0.01}})});
  Second();
  EXPECT_EQ(method(), Method::kCpuTime);
}

}  // namespace
}  // namespace kepler::pipeline
