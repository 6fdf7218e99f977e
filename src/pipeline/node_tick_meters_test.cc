// Meters beside that of the processors.
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
  supply.measures = snapshot::Domain::kPlatform;
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
    EXPECT_EQ(s->processes.energy_at(0, 1), Energy{});
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
  supply.measures = snapshot::Domain::kPlatform;
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

}  // namespace
}  // namespace kepler::pipeline
