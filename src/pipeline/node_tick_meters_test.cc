// Meters in addition to that of the processors.
#include <gtest/gtest.h>

#include "energy/polled_source.h"
#include "energy/scripted_source.h"
#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using namespace std::chrono_literals;

TEST(NodeTickMeters, SupplyThatIsReadEveryFifteenSeconds_IsTheNodesAndNeverZero) {
  TestNode node;
  energy::Script supply;
  supply.name = "psu";
  supply.domain = status::Domain::kPlatform;
  supply.Add({"platform", "psu", "psu", {}, {}, {}}, Power::Watts(100));
  auto source = std::make_unique<energy::PolledSource>(std::make_unique<energy::ScriptedSource>(supply, node.clock),
                                                       15s, testing::Lend(node.clock));
  energy::PolledSource& polled = *source;
  ASSERT_TRUE(node.meters->Add(std::move(source)));
  node.activity.Start(0, 10, "a");
  int shown = 0;
  for (int second = 0; second < 60; ++second) {
    if (second % 15 == 5) polled.Poll();
    node.activity.processes[0].cpu = std::chrono::milliseconds(400);
    node.Second(10);
    const auto s = node.Latest();
    if (s == nullptr || s->zones.size() < 2) continue;
    ASSERT_EQ(s->zones[1].name, "platform");
    ExpectConserved(*s);
    EXPECT_TRUE(s->node[1].fresh || second <= 20) << second;
    if (!s->node[1].fresh) continue;
    ++shown;
    EXPECT_DOUBLE_EQ(s->node[1].power.watts(), 100) << second;
    EXPECT_EQ(s->processes.zones, 1);
    EXPECT_GT(s->processes.watts_at(0, 0), 0);
  }
  EXPECT_EQ(shown, 40) << "from the second reading on, in the twentieth second";
  EXPECT_EQ(Joules(node.Latest()->node[1].total), 3 * 15 * 100);
  EXPECT_EQ(node.Latest()->sources.size(), 2u);
}

TEST(NodeTickMeters, CpuMeterIsReplacedWhileAnotherWasCharged_ThatOneKeepsItsJoules) {
  TestNode node;
  energy::Script dead, alive, supply;
  alive.name = "hwmon";
  supply.name = "psu";
  supply.domain = status::Domain::kPlatform;
  dead.Add({"package", "p", "package", {}, {}, {}}, RawCounter{1});
  alive.Add({"socket", "s", "socket", {}, {}, {}}, RawCounter{1});
  supply.Add({"platform", "psu", "psu", {}, {}, {}}, Power::Watts(100));
  std::vector<std::unique_ptr<energy::EnergySource>> sources;
  sources.push_back(std::make_unique<energy::ScriptedSource>(dead, node.clock));
  sources.push_back(std::make_unique<energy::ScriptedSource>(alive, node.clock));
  node.meters = OpenMeters(std::move(sources), node.clock);
  auto source = std::make_unique<energy::PolledSource>(std::make_unique<energy::ScriptedSource>(supply, node.clock), 1s,
                                                       testing::Lend(node.clock));
  energy::PolledSource& polled = *source;
  ASSERT_TRUE(node.meters->Add(std::move(source)));
  node.tick = std::make_unique<NodeTick>(
      NodeParts{node.activity, *node.meters, node.resolver, node.board, node.clock, node.proc.root()},
      attribution::RetentionPolicy{});
  for (int second = 0; second < 10; ++second) {
    polled.Poll();
    std::get<RawCounter>(alive.values[0]).microjoules += 1'000'000;
    node.Second(0);
  }
  const auto s = node.Latest();
  ASSERT_EQ(s->zones.size(), 2u);
  EXPECT_EQ(s->zones[0].name, "socket");
  EXPECT_EQ(Joules(s->node[1].total), 800);
  ExpectConserved(*s);
}

/// A node whose processors are estimated.
struct EstimatedNode : TestNode {
  explicit EstimatedNode(SplitOptions split = {}) {
    script.Add({"package", "model", "package", {}, {}, {}}, RawCounter{1});
    meters = OpenMeters({}, clock, std::make_unique<energy::ScriptedEstimate>(script, clock));
    tick = std::make_unique<NodeTick>(NodeParts{activity, *meters, resolver, board, clock, proc.root()},
                                      attribution::RetentionPolicy{}, split);
    activity.Start(0, 10, "a");
  }
  void Estimate(uint64_t joules) {
    std::get<RawCounter>(script.values[0]).microjoules += joules * 1'000'000;
    activity.processes[0].cpu = 100ms;
    Second(0);
  }
  energy::Script script;
};

TEST(NodeTickMeters, EstimateOfWhatLoadAdds_IsActiveWhateverTheRatio) {
  for (const IdlePolicy idle : {IdlePolicy::kRatio, IdlePolicy::kBaseline}) {
    for (const auto payers : {snapshot::IdlePayers::kNode, snapshot::IdlePayers::kByUse}) {
      EstimatedNode node({.idle = idle, .idle_payers = payers});
      node.script.only_load = true;
      for (int i = 0; i < 5; ++i) node.Estimate(10);
      const auto s = node.Latest();
      ExpectConserved(*s);
      EXPECT_EQ(s->node[0].total, Energy::Joules(40));
      EXPECT_EQ(s->node[0].active, Energy::Joules(40));
      EXPECT_DOUBLE_EQ(s->node[0].idle_power.watts(), 0);
      EXPECT_EQ(s->processes.energy_at(0, 0), Energy::Joules(40));
    }
  }
}

TEST(NodeTickMeters, EstimateThatBecomesOneOfTheWholeMachine_IsSplitFromThenOn) {
  EstimatedNode node;
  node.script.only_load = true;
  for (int i = 0; i < 3; ++i) node.Estimate(10);
  node.script.only_load = false;
  for (int i = 0; i < 2; ++i) node.Estimate(10);
  const auto s = node.Latest();
  ExpectConserved(*s);
  EXPECT_EQ(s->node[0].active, Energy::Joules(20 + 10));
  EXPECT_EQ(s->node[0].idle, Energy::Joules(10));
}

TEST(NodeTickMeters, EventsOfTheScan_AreThereWhenTheMetersAreRead) {
  EstimatedNode node;
  const auto events = std::make_shared<NodeEvents>();
  node.tick = std::make_unique<NodeTick>(NodeParts{.activity = node.activity,
                                                   .meters = *node.meters,
                                                   .resolver = node.resolver,
                                                   .board = node.board,
                                                   .clock = node.clock,
                                                   .procfs = node.proc.root(),
                                                   .events = events},
                                         attribution::RetentionPolicy{});
  node.activity.current.counts_events = true;
  for (int i = 0; i < 3; ++i) {
    node.activity.processes[0].events = {.cycles = 5, .instructions = 6, .cache_misses = 7};
    node.Estimate(1);
  }
  EXPECT_EQ(events->total, (HardwareEvents{15, 18, 21}));
  EXPECT_EQ(events->at, node.clock.Now());
  EXPECT_EQ(node.Latest()->features.events, events->total);
  EXPECT_EQ(node.Latest()->features.cpu, 1s) << "half of two seconds";
}

}  // namespace
}  // namespace kepler::pipeline
