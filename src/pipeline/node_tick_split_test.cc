// The usage ratio, unattributed time, and the weights of energy.
#include <gtest/gtest.h>

#include "pipeline/node_test_util.h"
#include "pipeline/node_tick.h"

namespace kepler::pipeline {
namespace {
using snapshot::RatioMethod;
using std::chrono::milliseconds;

TEST(NodeTick, ExactRatio_IsWhatRanOfTheTimeThatThereWas) {
  TestNode node({}, std::chrono::hours(1), {.ratio = RatioMethod::kExact});
  const cgroup::Membership box({{0, "", kBox}}, cgroup::OwnerOfPath(kBox));
  node.activity.Start(0, 10, "a");
  node.activity.Start(1, 11, "b");
  node.Second(0);
  node.activity.processes[0].cpu = milliseconds(100);
  node.activity.Exit(1);
  node.activity.exited.back().cpu = milliseconds(50);
  node.activity.short_lived.push_back(ShortLived(100, box, milliseconds(25)));
  node.activity.residuals = {{kBox, milliseconds(20)}};
  node.activity.invisible = milliseconds(5);
  node.stat = {.irq = 10, .softirq = 10, .steal = 10};  // inside the interrupted tasks' time, as far as is known
  node.Second(10);
  const auto s = node.Latest();
  EXPECT_DOUBLE_EQ(s->exact_ratio.value(), 0.2);
  EXPECT_DOUBLE_EQ(s->usage_ratio.value(), 0.2);
  EXPECT_GT(s->proc_stat_ratio.value(), 0.5);
  EXPECT_EQ(s->ratio_method, RatioMethod::kExact);
  EXPECT_EQ(Joules(s->node[0].active), 2);
  ExpectConserved(*s);
}

TEST(NodeTick, ExactRatio_IsOfAllProcessors) {
  TestNode node({}, std::chrono::hours(1), {.ratio = RatioMethod::kExact});
  node.online = "cpu1 1 0 0 1 0 0 0 0 0 0\n";
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.Second(10, 0, milliseconds(500));
  EXPECT_DOUBLE_EQ(node.Latest()->usage_ratio.value(), 0.25);
}

TEST(NodeTick, MissedDeadlines_AddUp) {
  TestNode node;
  for (const uint64_t missed : {3U, 5U, 2U}) {
    node.clock.Advance(std::chrono::seconds(1));
    node.tick->Run(missed);
  }
  EXPECT_EQ(node.Latest()->pipeline.missed_ticks, 10u);
}

TEST(NodeTick, ProcStatRatio_IsUsedUnlessExactIsAskedFor) {
  TestNode node;
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.Second(10, 0, milliseconds(100));
  const auto s = node.Latest();
  EXPECT_DOUBLE_EQ(s->usage_ratio.value(), 0.5);
  EXPECT_DOUBLE_EQ(s->proc_stat_ratio.value(), 0.5);
  EXPECT_DOUBLE_EQ(s->exact_ratio.value(), 0.1);
}

TEST(NodeTick, ExactRatioAfterAScanThatFailed_CoversBoth) {
  TestNode node({}, std::chrono::hours(1), {.ratio = RatioMethod::kExact});
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.Second(10, 0, milliseconds(400));
  node.activity.broken = true;
  node.Second(10);
  EXPECT_DOUBLE_EQ(node.Latest()->usage_ratio.value(), 0.4);
  node.activity.broken = false;
  node.Second(10, 0, milliseconds(400));
  EXPECT_DOUBLE_EQ(node.Latest()->usage_ratio.value(), 0.2);
}

TEST(NodeTick, ExactRatioOfMoreThanThereIs_IsOne) {
  TestNode node({}, std::chrono::hours(1), {.ratio = RatioMethod::kExact});
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.Second(10, 0, milliseconds(4000));
  EXPECT_EQ(node.Latest()->usage_ratio.value(), 1.0);
}

struct KeptApartCase {
  KeptApart interrupts;
  KeptApart steal;
  RatioMethod ratio;
  Nanoseconds unattributed;
  const char* interrupts_label;
  const char* steal_label;
};
class NodeTickKeptApart : public ::testing::TestWithParam<KeptApartCase> {};

/// 200 ms of interrupts, 300 ms that the hypervisor kept, and 500 ms of a process.
TEST_P(NodeTickKeptApart, InterruptsAndSteal_AreUnattributedWhereTheyAreNotInTheTasksTime) {
  const KeptApartCase& param = GetParam();
  TestNode node({}, std::chrono::hours(1), {.ratio = param.ratio});
  node.activity.current.time.interrupts = param.interrupts;
  node.activity.current.time.steal = param.steal;
  node.activity.Start(0, 10, "a");
  node.Second(0);
  node.activity.processes[0].cpu = milliseconds(500);
  node.stat = {.irq = 5, .softirq = 15, .steal = 30};
  node.Second(10);
  const auto s = node.Latest();
  EXPECT_EQ(s->unattributed_cpu, param.unattributed);
  const double active = s->node[0].active.ToJoules();
  const double ran = 500 + std::chrono::duration<double, std::milli>(param.unattributed).count();
  EXPECT_NEAR(s->processes.energy_at(0, 0).ToJoules(), active * 500 / ran, 2e-6);
  if (param.ratio == RatioMethod::kExact) {
    EXPECT_DOUBLE_EQ(s->usage_ratio.value(), param.interrupts == KeptApart::kYes ? 0.7 : 0.5);
  }
  EXPECT_EQ(ToString(s->activity.time.interrupts), param.interrupts_label);
  EXPECT_EQ(ToString(s->activity.time.steal), param.steal_label);
  ExpectConserved(*s);
  node.Second(0);  // counted once
  EXPECT_EQ(node.Latest()->unattributed_cpu, param.unattributed);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, NodeTickKeptApart,
    ::testing::Values(
        KeptApartCase{KeptApart::kYes, KeptApart::kYes, RatioMethod::kProcStat, milliseconds(500), "apart", "apart"},
        KeptApartCase{KeptApart::kYes, KeptApart::kYes, RatioMethod::kExact, milliseconds(200), "apart", "apart"},
        KeptApartCase{KeptApart::kYes, KeptApart::kNo, RatioMethod::kProcStat, milliseconds(200), "apart", "in-task"},
        KeptApartCase{KeptApart::kNo, KeptApart::kYes, RatioMethod::kProcStat, milliseconds(300), "in-task", "apart"},
        KeptApartCase{KeptApart::kNo, KeptApart::kNo, RatioMethod::kExact, milliseconds(0), "in-task", "in-task"},
        KeptApartCase{KeptApart::kUnknown, KeptApart::kUnknown, RatioMethod::kProcStat, milliseconds(0), "unknown",
                      "unknown"}));

TEST(NodeTick, CountersAskedFor_WeighWhereTheyCount) {
  TestNode node({}, std::chrono::hours(1), {.weights = CpuWeights::kCounters});
  node.activity.Start(0, 10, "a");
  node.activity.Start(1, 11, "b");
  node.Second(0);
  for (const activity::Slot slot : {0u, 1u}) node.activity.processes[slot].cpu = milliseconds(100);
  node.Second(8);
  EXPECT_EQ(node.Latest()->methods[0], snapshot::Method::kCpuTime);  // nobody counted
  EXPECT_EQ(Joules(node.Latest()->processes.energy_at(0, 0)), 2);
  for (const activity::Slot slot : {0u, 1u}) {
    node.activity.processes[slot].cpu = milliseconds(100);
    node.activity.processes[slot].events = {slot == 0 ? 3000u : 1000u, 1, 1};
  }
  node.Second(16);
  EXPECT_EQ(node.Latest()->methods[0], snapshot::Method::kCycles);
  EXPECT_EQ(Joules(node.Latest()->processes.energy_at(0, 0)), 2 + 6);
  EXPECT_EQ(node.Latest()->processes.events[0].cycles, 3000u);
  ExpectConserved(*node.Latest());
}

TEST(NodeTick, HealthOfTheKernelSide_IsInTheSnapshot) {
  TestNode node;
  node.activity.current.records = {{"task", 10, 1}, {"exec", 5, 0}};
  node.activity.current.lost = milliseconds(3);
  node.activity.current.iterator_time = milliseconds(4);
  node.activity.current.program_time = milliseconds(5);
  node.activity.current.program_runs = 6;
  node.Second(0);
  node.Second(0);
  node.Second(0);  // the second time into the same, recycled snapshot
  const auto& activity = node.Latest()->activity;
  ASSERT_EQ(activity.records.size(), 2u);
  EXPECT_EQ(activity.records[0].kind, "task");
  EXPECT_EQ(activity.records[0].taken, 10u);
  EXPECT_EQ(activity.records[0].dropped, 1u);
  EXPECT_EQ(activity.lost, milliseconds(3));
  EXPECT_EQ(activity.iterator_time, milliseconds(4));
  EXPECT_EQ(activity.program_time, milliseconds(5));
  EXPECT_EQ(activity.program_runs, 6u);
}

}  // namespace
}  // namespace kepler::pipeline
