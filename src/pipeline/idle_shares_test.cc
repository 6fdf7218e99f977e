// Idle energy that workloads share, by use or by request.
#include "pipeline/idle_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "energy/polled_source.h"
#include "energy/scripted_source.h"
#include "pipeline/node_test_util.h"

namespace kepler::pipeline {
namespace {

using snapshot::IdlePayers;
using snapshot::Level;
using snapshot::Snapshot;
using status::Domain;
using std::chrono::milliseconds;
using ::testing::ElementsAre;

const std::string kShop = "152bb6d4-0ddf-4332-848a-0095e4e2dadd";
const std::string kBank = "252bb6d4-0ddf-4332-848a-0095e4e2dadd";
const std::string kWeb(64, 'c');
const std::string kDb(64, 'd');

std::string CgroupOf(const std::string& pod, const std::string& container) {
  return "/kubepods/burstable/pod" + pod + "/" + container;
}

/// What all rows of a table have of a zone, with what has no series.
template <class Table>
Energy SumOf(const Snapshot& s, const Table& table, Level level, size_t zone) {
  Energy sum = s.unattributed[zone];
  for (size_t row = 0; row < table.rows(); ++row) sum += table.energy_at(row, zone);
  for (const auto& reason : s.unlisted[std::to_underlying(level)]) sum += reason[zone];
  return sum;
}

/// Half of the machine is busy: half of each joule is idle.
class IdleSharesTest : public ::testing::Test {
 protected:
  void Use(IdlePayers payers) {
    node_.proc.Write("cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n\n");
    node_.proc.Write("meminfo", "MemTotal:        8192 kB\nMemFree: 1 kB\n");
    for (const int pid : {10, 11, 12}) {
      node_.proc.Write(std::to_string(pid) + "/environ", "");
      node_.proc.Write(std::to_string(pid) + "/cmdline", "");
      node_.proc.Write(std::to_string(pid) + "/status", "Uid:\t0\t0\t0\t0\n");
    }
    node_.UsePods(directory_, {.idle_payers = payers});
    node_.activity.Start(0, 10, "web", CgroupOf(kShop, kWeb));
    node_.activity.Start(1, 11, "db", CgroupOf(kBank, kDb));
    node_.activity.Start(2, 12, "sshd");
    node_.Second(0);
  }
  void Request(uint64_t web_millis, uint64_t db_millis) {
    directory_.latest = MapOf({{.identity = {.id = kShop}, .containers = {{kWeb, "", {.cpu_millis = web_millis}}}},
                               {.identity = {.id = kBank}, .containers = {{kDb, "", {.cpu_millis = db_millis}}}}});
  }
  const Snapshot& Run(uint64_t joules, const std::vector<int>& times) {
    for (uint32_t slot = 0; slot < times.size(); ++slot)
      if (node_.activity.processes.contains(slot)) node_.activity.processes[slot].cpu = milliseconds(times[slot]);
    node_.Second(joules);
    latest_ = node_.Latest();
    ExpectConserved(*latest_);
    return *latest_;
  }
  /// Joules of idle energy, in the order of the rows.
  template <class Table>
  static std::vector<int64_t> Idle(const Table& table) {
    std::vector<int64_t> idle;
    for (size_t row = 0; row < table.rows(); ++row) idle.push_back(Joules(table.energy_at(row, 1)));
    return idle;
  }

  ScriptedDirectory directory_;
  TestNode node_;
  std::shared_ptr<const Snapshot> latest_;
};

TEST_F(IdleSharesTest, Node_NoZoneIsAdded) {
  Use(IdlePayers::kNode);
  EXPECT_EQ(Run(10, {1, 1, 1}).zones.size(), 1u);
}

TEST_F(IdleSharesTest, ByUse_IdleFollowsTheTimeOnEachLevel_DefaultSumsStay) {
  Use(IdlePayers::kByUse);
  const Snapshot& s = Run(40, {100, 300, 100});
  ASSERT_EQ(s.zones.size(), 2u);
  EXPECT_EQ(s.zones[1].domain, Domain::kIdleCpu);
  EXPECT_EQ(s.zones[1].name, "package");
  EXPECT_EQ(s.node[1].total, s.node[0].idle);
  EXPECT_THAT(Idle(s.processes), ElementsAre(4, 12, 4));
  EXPECT_THAT(Idle(s.containers), ElementsAre(4, 12));
  EXPECT_THAT(Idle(s.pods), ElementsAre(4, 12));
  EXPECT_EQ(Joules(s.containers.energy_at(1, 0)), 12) << "active energy is unchanged";
  EXPECT_EQ(SumOf(s, s.containers, Level::kContainer, 1), s.node[0].idle);
  EXPECT_EQ(SumOf(s, s.processes, Level::kProcess, 1), s.node[0].idle);
}

TEST_F(IdleSharesTest, ByUse_NobodyRan_IdleIsNobodys) {
  Use(IdlePayers::kByUse);
  const Snapshot& s = Run(40, {0, 0, 0});
  EXPECT_EQ(s.unattributed[1], s.node[0].idle);
}

TEST_F(IdleSharesTest, ByRequest_ContainersPayForTheirPartOfTheMachine_WhateverTheyRan) {
  Use(IdlePayers::kByRequest);
  Request(500, 1000);
  const Snapshot& s = Run(80, {900, 0, 100});
  EXPECT_EQ(Joules(s.node[0].idle), 40);
  EXPECT_THAT(Idle(s.containers), ElementsAre(10, 20));
  EXPECT_THAT(Idle(s.pods), ElementsAre(10, 20));
  EXPECT_EQ(Joules(s.unattributed[1]), 10) << "a quarter of two processors is free";
  EXPECT_EQ(SumOf(s, s.pods, Level::kPod, 1), s.node[0].idle);
}

TEST_F(IdleSharesTest, ByRequest_WhoHasEndedPaysNoMore) {
  Use(IdlePayers::kByRequest);
  Request(1000, 1000);
  Run(80, {100, 100, 100});
  node_.activity.Exit(1);
  Run(80, {100, 0, 100});
  const Snapshot& s = Run(80, {100, 0, 100});
  EXPECT_THAT(Idle(s.containers), ElementsAre(60, 20));
  EXPECT_EQ(Joules(s.unattributed[1]), 40);
}

TEST_F(IdleSharesTest, ScanThatFailed_IdleIsNobodys) {
  Use(IdlePayers::kByRequest);
  Request(1000, 1000);
  Run(80, {100, 100, 100});
  const Energy before = latest_->unattributed[1];
  node_.activity.broken = true;
  EXPECT_EQ(Run(80, {100, 100, 100}).unattributed[1] - before, Energy::Joules(40));
}

TEST_F(IdleSharesTest, ByRequest_MoreThanThereIs_SharesEverything) {
  Use(IdlePayers::kByRequest);
  Request(UINT64_MAX, 2000);
  const Snapshot& s = Run(80, {100, 100, 100});
  EXPECT_THAT(Idle(s.containers), ElementsAre(20, 20));
  EXPECT_EQ(s.unattributed[1], Energy{});
}

TEST_F(IdleSharesTest, ByRequest_NothingIsKnown_IdleIsNobodys) {
  Use(IdlePayers::kByRequest);
  const Snapshot& s = Run(40, {100, 100, 100});
  EXPECT_EQ(s.unattributed[1], s.node[0].idle);
}

TEST(IdleZones, ZoneThatJoins_AndOneOfTheNode_KeepTheirPlaces) {
  TestNode node;
  energy::Script cpu;
  energy::Script supply;
  supply.name = "psu";
  supply.domain = Domain::kPlatform;
  cpu.Add({"package", "p", "package", {}, {}, {}}, RawCounter{1});
  supply.Add({"platform", "psu", "psu", {}, {}, {}}, Power::Watts(100));
  std::vector<std::unique_ptr<energy::EnergySource>> sources;
  sources.push_back(std::make_unique<energy::ScriptedSource>(cpu, node.clock));
  node.meters = OpenMeters(std::move(sources), node.clock);
  auto source = std::make_unique<energy::PolledSource>(std::make_unique<energy::ScriptedSource>(supply, node.clock),
                                                       std::chrono::seconds(1), testing::Lend(node.clock));
  energy::PolledSource& polled = *source;
  ASSERT_TRUE(node.meters->Add(std::move(source)));
  node.tick = std::make_unique<NodeTick>(
      NodeParts{node.activity, *node.meters, node.resolver, node.board, node.clock, node.proc.root()},
      attribution::RetentionPolicy{},
      SplitOptions{.weights = CpuWeights::kCounters, .idle = IdlePolicy::kBaseline, .idle_payers = IdlePayers::kByUse});
  node.activity.Start(0, 10, "a");
  std::map<std::string, Energy> before;
  for (int second = 0; second < 120; ++second) {
    if (second == 40) cpu.Add({"dram", "d", "dram", {}, {}, {}}, RawCounter{1});
    polled.Poll();
    for (auto& value : cpu.values) std::get<RawCounter>(value).microjoules += 10'000'001;
    node.activity.processes[0].cpu = milliseconds(400);
    node.activity.processes[0].events = {1000, 2000, 3};
    node.Second(0);
    const auto s = node.Latest();
    if (s == nullptr) continue;
    ExpectConserved(*s);
    for (size_t z = 0; z < s->zones.size(); ++z) {
      Energy& last = before[s->zones[z].name + std::to_string(std::to_underlying(s->zones[z].domain))];
      EXPECT_GE(s->processes.energy_at(0, z), last);
      last = s->processes.energy_at(0, z);
    }
  }
  const auto s = node.Latest();
  std::vector<std::string> zones;
  for (const auto& zone : s->zones) zones.push_back(zone.name);
  ASSERT_THAT(zones, ElementsAre("package", "dram", "platform", "package", "dram"));
  for (const size_t z : {0U, 1U}) {
    EXPECT_EQ(s->node[z + 3].total, s->node[z].idle);
    EXPECT_GT(s->node[z].idle, Energy{});
    EXPECT_EQ(s->processes.energy_at(0, z + 3), s->node[z].idle - s->unattributed[z + 3]);
  }
}

TEST(RequestWeights, Dram_IsSharedByMemory_TheOthersByProcessors) {
  attribution::Ledger ledger({});
  const std::vector<status::Zone> zones = {{"package", "p", "x"}, {"dram", "d", "x"}};
  ledger.SetZones(zones, 0);
  ledger.BeginTick(BootTime(std::chrono::seconds(1)));
  ledger.Container({"web", "", "kubernetes", ""}, attribution::kNoRow);
  ledger.Container({"db", "", "kubernetes", ""}, attribution::kNoRow);
  ledger.Container({"best-effort", "", "kubernetes", ""}, attribution::kNoRow);
  const auto pods = MapOf({{.identity = {.id = "u"},
                            .containers = {{"web", "", {.cpu_millis = 500, .memory_kib = 1024}},
                                           {"db", "", {.cpu_millis = 0, .memory_kib = 4096}}}}});
  RequestWeights weights;
  weights.SetZones(zones);
  weights.Fill(ledger, *pods, {.cpu_millis = 2000, .memory_kib = 8192});
  EXPECT_THAT(weights.Of(0, {}, false), ElementsAre(500, 0, 1500));
  EXPECT_THAT(weights.Of(1, {}, false), ElementsAre(1024, 4096, 3072));
  EXPECT_EQ(weights.method(0), snapshot::Method::kCpuRequests);
  EXPECT_EQ(weights.method(1), snapshot::Method::kMemoryRequests);
}

}  // namespace
}  // namespace kepler::pipeline
