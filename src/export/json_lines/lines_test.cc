#include "export/json_lines/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/parse.h"
#include "export/series/visit.h"
#include "json/document.h"
#include "testing/snapshot_builder.h"

namespace kepler::json_lines {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The lines. Each must be a JSON object.
std::vector<std::string> LinesOf(const snapshot::Snapshot& snapshot, LineOptions options = {}) {
  if (options.node.empty()) options.node = "n1";
  if (options.levels == 0) options.levels = series::kAllLevels;
  std::string text;
  const uint64_t count = AppendLines(snapshot, options, text);
  std::vector<std::string> lines;
  Splitter split(text, '\n');
  while (const auto line = split.Next())
    if (!line->empty()) lines.emplace_back(*line);
  EXPECT_EQ(lines.size(), count);
  EXPECT_TRUE(text.ends_with("}\n"));
  for (const std::string& line : lines) {
    const auto parsed = json::Parse(line);
    EXPECT_TRUE(parsed) << line;
    if (!parsed) continue;
    EXPECT_EQ(json::Cursor(*parsed).Number("version").value(), kVersion);
  }
  return lines;
}

std::string LineWith(const std::vector<std::string>& lines, std::string_view text) {
  for (const std::string& line : lines)
    if (line.contains(text)) return line;
  return {};
}

TEST(AppendLines, NodeAndProcess) {
  auto snapshot = testing::EmptySnapshot({"package", "dram"});
  snapshot.node[0].total = Energy::Microjoules(1'500'000);
  snapshot.node[0].active = Energy::Microjoules(1'000'001);
  snapshot.node[0].idle = Energy::Microjoules(499'999);
  snapshot.node[0].power = Power::Watts(2.5);
  testing::AddRow(snapshot.processes, testing::Process(42, "make", "/usr/bin/make"), {Energy::Microjoules(1)}, {0.5},
                  std::chrono::milliseconds(1500));
  const auto lines = LinesOf(snapshot);
  EXPECT_THAT(LineWith(lines, R"("level":"node","zone":"package")"),
              HasSubstr(R"("joules":1.500000,"active_joules":1.000001,"idle_joules":0.499999,"watts":2.5)"));
  snapshot.zones[1].domain = status::Domain::kPlatform;
  EXPECT_THAT(LineWith(LinesOf(snapshot), R"("zone":"dram")"), Not(HasSubstr("active")));
  const std::string process = LineWith(lines, R"("level":"process")");
  EXPECT_THAT(process, HasSubstr(R"("time":"2023-11-14T22:13:20.000Z","node":"n1")"));
  EXPECT_THAT(process, HasSubstr(R"("pid":42,"comm":"make","exe":"/usr/bin/make","state":"running")"));
  EXPECT_THAT(process, HasSubstr(R"("cpu_seconds":1.5,"joules":{"package":0.000001,"dram":0.000000})"));
  EXPECT_THAT(process, HasSubstr(R"("watts":{"package":0.5,"dram":0})"));
}

TEST(AppendLines, OriginOfAZone_IsSaid) {
  auto snapshot = testing::EmptySnapshot({"package", "dram", "platform"});
  snapshot.zones[0].source = "rapl";
  snapshot.zones[1].source = "fake";
  snapshot.zones[2].source = "model";
  const auto lines = LinesOf(snapshot);
  EXPECT_THAT(LineWith(lines, R"("zone":"package")"), HasSubstr(R"(,"origin":"measured",)"));
  EXPECT_THAT(LineWith(lines, R"("zone":"dram")"), HasSubstr(R"(,"origin":"simulated",)"));
  EXPECT_THAT(LineWith(lines, R"("zone":"platform")"), HasSubstr(R"(,"origin":"estimated",)"));
}

TEST(AppendLines, OldWattsAreLeftOut_AndThoseOfEndedWorkloads) {
  auto snapshot = testing::EmptySnapshot({"package"});
  testing::AddRow(snapshot.processes, testing::Process(1, "old"), {}, {}, {}, snapshot::State::kTerminated);
  EXPECT_THAT(LineWith(LinesOf(snapshot), R"("comm":"old")"), Not(HasSubstr("watts")));
  testing::AddRow(snapshot.processes, testing::Process(2, "now"));
  for (const std::string& line : LinesOf(snapshot, {.stale = true})) EXPECT_THAT(line, Not(HasSubstr("watts")));
}

TEST(AppendLines, HostileNamesStayInTheirString) {
  auto snapshot = testing::EmptySnapshot({"package"});
  testing::AddRow(snapshot.processes, testing::Process(1, "a\"},\n{\x01\\", "\xff\xfe/x"));
  testing::AddRow(snapshot.pods, snapshot::PodIdentity{.id = "p", .name = "\u2028\"", .name_space = "</script>"});
  LinesOf(snapshot);
}

TEST(AppendLines, VmHasTheMetadataThatIsKnown) {
  auto snapshot = testing::EmptySnapshot({"package"});
  testing::AddRow(snapshot.vms, snapshot::VmIdentity{"v1", "i-2a", "kvm", {"web", "m1.small", "995b", "shop", "anna"}});
  testing::AddRow(snapshot.vms, snapshot::VmIdentity{"v2", "guest", "kvm"});
  const auto lines = LinesOf(snapshot);
  EXPECT_THAT(LineWith(lines, R"("vm_id":"v1")"),
              HasSubstr(R"("vm_name":"i-2a","hypervisor":"kvm","instance_name":"web","project_id":"995b",)"
                        R"("project_name":"shop","user_name":"anna","flavor":"m1.small","state":"running")"));
  EXPECT_THAT(LineWith(lines, R"("vm_id":"v2")"), HasSubstr(R"("hypervisor":"kvm","state")"));
}

TEST(AppendLines, OnlySelectedLevels) {
  auto snapshot = testing::EmptySnapshot({"package"});
  testing::AddRow(snapshot.processes, testing::Process(1, "a"));
  testing::AddRow(snapshot.containers,
                  snapshot::ContainerIdentity{.id = "c", .name = "n", .runtime = "r", .pod_id = ""});
  const auto lines = LinesOf(snapshot, {.levels = series::kContainer});
  EXPECT_EQ(LineWith(lines, R"("level":"process")"), "");
  EXPECT_EQ(LineWith(lines, R"("of":"process")"), "");
  EXPECT_NE(LineWith(lines, R"("level":"container")"), "");
}

TEST(AppendLines, SharedIdleEnergyIsApart_AndOnlyZonesOfWorkloadsAreInTheirLines) {
  auto snapshot = testing::EmptySnapshot({"package", "platform", "package"});
  snapshot.zones[1].domain = status::Domain::kPlatform;
  snapshot.zones[2].domain = status::Domain::kIdleCpu;
  testing::AddRow(snapshot.processes, testing::Process(1, "a"),
                  {Energy::Joules(1), Energy(), Energy::Microjoules(40'855)});
  snapshot.unattributed[2] = Energy::Joules(2);
  const auto lines = LinesOf(snapshot);
  EXPECT_THAT(LineWith(lines, R"("comm":"a")"),
              HasSubstr(R"("joules":{"package":1.000000},"idle_joules":{"package":0.040855},"watts":{"package":0}})"));
  EXPECT_THAT(LineWith(lines, R"("unattributed")"), HasSubstr(R"("idle_joules":{"package":2.000000})"));
  EXPECT_EQ(std::ranges::count_if(lines, [](const std::string& line) { return line.contains(R"("level":"node")"); }),
            2);
}

TEST(AppendLines, Users_HaveTheirUidAndTheirNameIfItIsKnown) {
  auto snapshot = testing::EmptySnapshot({"package"});
  snapshot.users.zones = 1;
  snapshot.users.identity = {std::make_shared<const snapshot::UserIdentity>(1000U, "a\"b"),
                             std::make_shared<const snapshot::UserIdentity>(4'294'967'294U)};
  snapshot.users.begin.resize(2);
  snapshot.users.energy = {Energy::Joules(1), Energy::Microjoules(2)};
  const auto lines = LinesOf(snapshot);
  EXPECT_THAT(LineWith(lines, R"("uid":1000)"), HasSubstr(R"("level":"user","uid":1000,"user":"a\"b","start":)"));
  EXPECT_THAT(LineWith(lines, R"("uid":4294967294)"), HasSubstr(R"("joules":{"package":0.000002})"));
  EXPECT_EQ(LineWith(LinesOf(snapshot, {.levels = series::kProcess}), R"("user")"), "");
}

/// Joules of the zone in the lines of a level; of "unlisted" lines those of `of`.
double Sum(const std::vector<std::string>& lines, const std::string& level, const std::string& of = {}) {
  double sum = 0;
  for (const std::string& line : lines) {
    if (!line.contains("\"level\":\"" + level + "\"")) continue;
    if (!of.empty() && !line.contains("\"of\":\"" + of + "\"")) continue;
    const auto parsed = json::Parse(line);
    sum += json::Cursor(*parsed).Member("joules")->Number("package").value();
  }
  return sum;
}

TEST(AppendLines, LinesOfALevelAddUp) {
  auto snapshot = testing::BusySnapshot({"package"}, 100);
  const auto process = static_cast<size_t>(snapshot::Level::kProcess);
  snapshot.unattributed[0] = Energy::Joules(3);
  snapshot.unlisted[process][0][0] = Energy::Joules(5);
  snapshot.unlisted[process][2][0] = Energy::Joules(7);
  snapshot.unnamed[process][0] = Energy::Joules(11);
  Energy listed;
  for (const Energy energy : snapshot.processes.energy) listed += energy;
  const auto lines = LinesOf(snapshot);
  EXPECT_NEAR(Sum(lines, "process"), listed.ToJoules(), 1e-6);
  EXPECT_EQ(Sum(lines, "unlisted", "process"), 23);
  EXPECT_EQ(Sum(lines, "unattributed"), 3);
}

}  // namespace
}  // namespace kepler::json_lines
