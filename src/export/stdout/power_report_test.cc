#include "export/stdout/power_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/snapshot_builder.h"

namespace kepler::console {
namespace {

using kepler::testing::AddRow;
using kepler::testing::Process;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

snapshot::Snapshot TwoZones() {
  auto s = kepler::testing::EmptySnapshot({"package", "dram"});
  for (status::Zone& zone : s.zones) zone.source = "rapl";
  s.node[0].total = Energy::Microjoules(1234'560'000);
  s.node[0].power = Power::Watts(12.345);
  s.node[1].total = Energy::Joules(10);
  s.node[1].power = Power::Watts(1.5);
  return s;
}

TEST(Report, NodeTable_SortedByZoneAsUpstream) {
  EXPECT_EQ(Report(TwoZones(), {}),
            "┌─────────┬─────────────┬────────────────┐\n"
            "│  ZONE   │ POWER ( W ) │ ABSOLUTE ( J ) │\n"
            "├─────────┼─────────────┼────────────────┤\n"
            "│    dram │       1.50W │         10.00J │\n"
            "│ package │      12.35W │       1234.56J │\n"
            "└─────────┴─────────────┴────────────────┘\n");
}

TEST(Report, EstimatedZones_AreNamedBelowTheTable) {
  auto s = TwoZones();
  s.zones[1].source = "model";
  EXPECT_THAT(Report(s, {}), ::testing::EndsWith("┘\nestimated by a model, not measured: dram\n"));
}

TEST(Report, SimulatedZones_AreNamedBelowTheTable) {
  auto s = TwoZones();
  for (status::Zone& zone : s.zones) zone.source = "fake";
  EXPECT_THAT(Report(s, {}), ::testing::EndsWith("┘\nsimulated by the fake meter, not measured: package, dram\n"));
}

TEST(Report, StaleSnapshot_HasNoWatts) {
  auto s = TwoZones();
  AddRow(s.processes, Process(1, "a", "/a"), {Energy::Joules(7), {}}, {3.5, 0});
  const std::string report = Report(s, {.top = 1}, true);
  EXPECT_THAT(report, HasSubstr("│ package │           - │       1234.56J │"));
  EXPECT_THAT(report, HasSubstr("┘\nthe last tick is too old: there are no watts\n"));
  EXPECT_THAT(report, HasSubstr("│     - │  7.00J │"));
  EXPECT_THAT(report, Not(HasSubstr("W │ ")));
}

TEST(Report, ZoneNotFresh_WattsUnknown) {
  auto s = TwoZones();
  s.node[0].fresh = false;
  EXPECT_THAT(Report(s, {}), HasSubstr("│ package │           - │       1234.56J │"));
}

TEST(Report, Top_LargestFirstByPrimaryZone) {
  auto s = TwoZones();
  AddRow(s.processes, Process(1, "small"), {Energy::Joules(9), Energy::Joules(9)}, {1.0, 9.0});
  AddRow(s.processes, Process(2, "large", "", "0123456789abcdef0123"), {Energy::Joules(1), Energy::Joules(1)},
         {2.0, 0.0}, std::chrono::milliseconds(1500));
  AddRow(s.processes, Process(3, "unseen"));
  const std::string report = Report(s, {.top = 2});
  EXPECT_THAT(report, HasSubstr("\nTop 2 of 3 processes by package power\n"));
  EXPECT_THAT(report, HasSubstr("│ 2.00W │  1.00J │    1.50s │   2 │ large │ 0123456789abcdef │\n"
                                "│ 1.00W │  9.00J │    0.00s │   1 │ small │                  │\n"));
  EXPECT_THAT(report, Not(HasSubstr("unseen")));
  EXPECT_THAT(report, Not(HasSubstr("containers")));
}

TEST(Report, Top_RankedByTheSnapshotsPrimaryZone) {
  auto s = kepler::testing::EmptySnapshot({"core", "socket"});
  s.primary = 1;
  AddRow(s.processes, Process(1, "a"), {}, {9.0, 1.0});
  AddRow(s.processes, Process(2, "b"), {}, {1.0, 5.0});
  const std::string report = Report(s, {.top = 1});
  EXPECT_THAT(report, HasSubstr("by socket power"));
  EXPECT_THAT(report, HasSubstr("│ 5.00W │"));
}

TEST(Report, Top_LittlePowerIsShownInThousandths) {
  auto s = TwoZones();
  AddRow(s.processes, Process(1, "quiet"), {Energy::Microjoules(75'800)}, {0.0031});
  EXPECT_THAT(Report(s, {.top = 1}), HasSubstr("│ 3.1mW │ 75.8mJ │"));
}

TEST(Report, Top_ContainersAndVmsWhereThereAreAny) {
  auto s = TwoZones();
  AddRow(s.containers, snapshot::ContainerIdentity{"c1", "web", "docker", ""}, {Energy::Joules(1)}, {1.0});
  AddRow(s.vms, snapshot::VmIdentity{"v1", "guest", "kvm"}, {Energy::Joules(2)}, {2.0});
  const std::string report = Report(s, {.top = 5});
  EXPECT_THAT(report, HasSubstr("Top 1 of 1 containers by package power"));
  EXPECT_THAT(report, HasSubstr("│ web  │ docker  │"));
  EXPECT_THAT(report, HasSubstr("Top 1 of 1 VMs by package power"));
  EXPECT_THAT(report, HasSubstr("│ guest │ kvm        │"));
}

TEST(Report, HostileName_StaysInItsCell) {
  auto s = TwoZones();
  AddRow(s.processes, Process(1, "a\x1b[2J\nb"));
  EXPECT_THAT(Report(s, {.top = 1}), HasSubstr("│ a?[2J?b │"));
}

TEST(Report, NoZones_HeaderOnly) {
  auto s = kepler::testing::EmptySnapshot({});
  AddRow(s.processes, Process(1, "x"));
  EXPECT_THAT(Report(s, {.top = 3}), Not(HasSubstr("Top")));
}

TEST(Report, Screen_ClearsFirst) { EXPECT_THAT(Report(TwoZones(), {.screen = true}), StartsWith("\x1b[H\x1b[2J┌")); }

}  // namespace
}  // namespace kepler::console
