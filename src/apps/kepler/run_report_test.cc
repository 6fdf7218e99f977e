#include "apps/kepler/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "json/document.h"

namespace kepler::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// 10 s of a machine with two CPUs: zone "package" by rapl, and the machine, which belongs to no workload, by a model.
/// The containers are one of docker and the command make-7 of user 1000.
snapshot::Snapshot Make() {
  snapshot::Snapshot snapshot;
  snapshot.taken_boot = BootTime(110s);
  snapshot.zones = {{.name = "package", .path = "/rapl/0", .source = "rapl"},
                    {.name = "platform", .path = "model", .source = "model", .domain = status::Domain::kPlatform}};
  snapshot.node.resize(2);
  snapshot.node[0].total = Energy::Joules(100);
  snapshot.node[0].active = Energy::Joules(80);
  snapshot.node[1].total = Energy::Joules(300);
  snapshot.containers.zones = 1;
  for (const auto& [id, runtime] : {std::pair("make-7", "docker"), std::pair("uid1000/make-7", "kepler-run")})
    snapshot.containers.identity.push_back(std::make_shared<const snapshot::ContainerIdentity>(
        snapshot::ContainerIdentity{.id = id, .name = "", .runtime = runtime, .pod_id = ""}));
  snapshot.containers.cpu = {1s, 5s};
  snapshot.containers.energy = {Energy::Joules(7), Energy::Joules(25)};
  snapshot.cpus = std::make_shared<const std::vector<CpuInfo>>(2);
  status::ZoneModel model;
  model.zone = "platform";
  model.error_watts = 2.5;
  status::EstimateStatus estimate;
  estimate.models = std::make_shared<const std::vector<status::ZoneModel>>(1, model);
  snapshot.estimates = {estimate};
  return snapshot;
}

RunReport ReportOf(const snapshot::Snapshot& snapshot, std::string_view container = "make-7") {
  RunReport report;
  report.argv = {"make", "-j2", "a\x1b[b"};
  report.exit_code = 2;
  report.duration = 8s;
  FillFrom(snapshot, BootTime(100s), container, report);
  return report;
}

TEST(RunReport, TakesTheRowOfTheCommand) {
  const RunReport report = ReportOf(Make());
  EXPECT_EQ(report.measured, 10s);
  EXPECT_EQ(report.cpu, 5s);
  EXPECT_EQ(report.cpus, 2u);
  ASSERT_EQ(report.zones.size(), 2u);
  EXPECT_EQ(report.zones[0].command, Energy::Joules(25));
  EXPECT_EQ(report.zones[0].active, Energy::Joules(80));
  EXPECT_EQ(report.zones[0].total, Energy::Joules(100));
  EXPECT_EQ(report.zones[0].origin, status::Origin::kMeasured);
  EXPECT_EQ(report.zones[1].command, std::nullopt);
  EXPECT_EQ(report.zones[1].origin, status::Origin::kEstimated);
  EXPECT_EQ(report.zones[1].error_watts, 2.5);
}

TEST(RunReport, CommandWithoutARowUsedNothing) {
  const RunReport report = ReportOf(Make(), "make-8");
  EXPECT_EQ(report.cpu, 0s);
  EXPECT_EQ(report.zones[0].command, Energy());
}

TEST(RunReport, NamesCpuTimeInOtherCgroups) {
  RunReport report = ReportOf(Make());
  report.outside = 9ms;
  EXPECT_THAT(RunText(report), Not(HasSubstr("other cgroups")));
  report.outside = 1240ms;
  EXPECT_THAT(RunText(report), HasSubstr("\nNot counted: 1.240 s of CPU time in other cgroups: "));
  EXPECT_THAT(RunJson(report), HasSubstr(R"("cpu_seconds":5,"outside_cpu_seconds":1.24,)"));
}

TEST(RunReport, Text) {
  RunReport report = ReportOf(Make());
  const std::string text = RunText(report);
  EXPECT_THAT(text, HasSubstr("Exit code  2\nTime       8.000 s\nCPU time   5.000 s, on average 0.62 of 2 CPUs\n"));
  EXPECT_THAT(text, HasSubstr("│ package  │ 25.000 │  3.12 │ 25.0 % │        100.000 │         10.00 │"));
  EXPECT_THAT(text, HasSubstr("│ platform │      - │     - │      - │        300.000 │         30.00 │"));
  EXPECT_THAT(text, HasSubstr("Meters: rapl\n        platform is an estimate of a power model, ± 2.5 W\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("still run")));
  report.left_running = 3;
  EXPECT_THAT(RunText(report), HasSubstr("3 processes of the command still run;"));
  report.left_running = 1;
  EXPECT_THAT(RunText(report), HasSubstr("1 process of the command still runs;"));
}

TEST(RunReport, ZoneWithoutAReadingIsNotMeasured) {
  snapshot::Snapshot snapshot = Make();
  for (snapshot::NodeZone& node : snapshot.node) node = {};
  snapshot.node[1].fresh = true;  // the platform meter had nothing new
  const RunReport report = ReportOf(snapshot);
  EXPECT_THAT(report.zones, IsEmpty());
  EXPECT_THAT(report.unmeasured, ElementsAre("package", "platform"));
  EXPECT_THAT(RunText(report), HasSubstr("Not measured: platform: its meter had no reading within the 8.000 s\n"));
  EXPECT_THAT(RunText(report), Not(HasSubstr("Meters:")));
  EXPECT_THAT(RunJson(report), HasSubstr(R"("zones":[],"unmeasured":["package","platform"]})"));
  snapshot.node[0].fresh = true;
  EXPECT_THAT(ReportOf(snapshot).unmeasured, ElementsAre("platform")) << "a part of a CPU may use nothing";
}

TEST(RunReport, ZoneThatWasReadLaterHasItsOwnTime) {
  snapshot::Snapshot snapshot = Make();
  snapshot.node[0].begin = BootTime(100s + 1ms);
  snapshot.node[1].begin = BootTime(104s);
  const RunReport report = ReportOf(snapshot);
  const std::string text = RunText(report);
  EXPECT_THAT(text, HasSubstr("│        300.000 │         50.00 │"));
  EXPECT_THAT(
      text,
      HasSubstr("The first reading of the meter of platform was late: its figures cover only the last 6.000 s\n"));
  EXPECT_THAT(text, Not(HasSubstr("The meter of package")));
  snapshot.node[0].begin = BootTime(105s);
  EXPECT_THAT(RunText(ReportOf(snapshot)), HasSubstr("│ package  │ 25.000 │  5.00 │")) << "25 J in the last 5 s";
  EXPECT_THAT(RunJson(report), HasSubstr(R"("machine_joules":300,"measured_seconds":6})"));
}

TEST(RunReport, SimulatedMeter_IsNamed) {
  snapshot::Snapshot snapshot = Make();
  snapshot.zones[0].source = "fake";
  const RunReport report = ReportOf(snapshot);
  EXPECT_THAT(RunText(report), HasSubstr("fake: simulated, nothing is measured"));
  EXPECT_THAT(RunJson(report), HasSubstr(R"("source":"fake","estimated":false,"simulated":true,)"));
}

TEST(RunReport, NoTimeAndNoEnergyAreNoNan) {
  RunReport report;
  report.argv = {"true"};
  report.zones = {{.name = "package", .path = "p", .source = "rapl", .command = Energy(), .active = {}, .total = {}}};
  for (const std::string& text : {RunText(report), RunJson(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("nan")));
    EXPECT_THAT(text, Not(HasSubstr("inf")));
  }
}

TEST(RunReport, Json) {
  const std::string text = RunJson(ReportOf(Make()));
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto parsed = json::Parse(text);
  ASSERT_TRUE(parsed) << parsed.error().message;
  const json::Cursor root(*parsed);
  EXPECT_EQ(root.Number("cpu_seconds").value(), 5);
  EXPECT_EQ(root.Texts("command")->at(2), "a\x1b[b");
  const auto zones = *root.Elements("zones");
  EXPECT_EQ(zones[0].Number("joules").value(), 25);
  EXPECT_EQ(zones[0].Number("share").value(), 0.25);
  EXPECT_TRUE(zones[1].Member("joules")->IsNull());
  EXPECT_EQ(zones[1].Number("error_watts").value(), 2.5);
}

}  // namespace
}  // namespace kepler::agent
