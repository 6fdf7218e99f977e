#include "export/api/snapshot_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "export/series/family.h"
#include "json/document.h"
#include "testing/snapshot_builder.h"

namespace kepler::api {
namespace {

using snapshot::Level;
using ::testing::HasSubstr;
using ::testing::Not;

/// The text, which must be one line of JSON.
std::string JsonOf(const snapshot::Snapshot& snapshot, Query query = {}, bool stale = false,
                   uint32_t gates = series::kAllLevels) {
  if (query.limit == 0) query.limit = kDefaultRows;
  const std::string text = SnapshotJson(snapshot, stale, query, {.version = "1.2", .node = "n1", .gates = gates});
  const auto parsed = json::Parse(text);
  EXPECT_TRUE(parsed) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return text;
}

snapshot::Snapshot OneProcess() {
  auto s = testing::EmptySnapshot({"package", "dram"});
  s.node[0].total = Energy::Microjoules(1'500'000);
  s.node[0].active = Energy::Microjoules(1'000'001);
  s.node[0].idle = Energy::Microjoules(499'999);
  s.node[0].power = Power::Watts(2.5);
  s.node[0].active_power = Power::Watts(2);
  s.node[0].idle_power = Power::Watts(0.5);
  testing::AddRow(s.processes, testing::Process(42, "make", "/usr/bin/make"), {Energy::Microjoules(1'000'001)}, {0.5},
                  std::chrono::milliseconds(1500));
  return s;
}

TEST(SnapshotJson, Head_NodeAndRow) {
  const std::string text = JsonOf(OneProcess());
  EXPECT_TRUE(text.starts_with(
      R"({"api":1,"time":"2023-11-14T22:13:20.000Z","interval_seconds":5,"stale":false,"agent":{"version":"1.2","node":"n1","started":")"));
  EXPECT_THAT(
      text, HasSubstr(R"({"zone":"package","path":"aggregated-package","domain":"cpu","source":"fake","metered":false,)"
                      R"("watts":2.5,"active_watts":2,"idle_watts":0.5,)"
                      R"("joules":1.500000,"active_joules":1.000001,"idle_joules":0.499999})"));
  EXPECT_THAT(text, HasSubstr(R"("workloads":{"level":"process","sort":"watts","zone":"package","total":1,)"
                              R"("matching":1,"rows":[{"id":"42","name":"make","pid":42,"comm":"make",)"
                              R"("exe":"/usr/bin/make","running":true,"cpu_seconds":1.5,"watts":0.5,)"
                              R"("joules":1.000001,"zones":{"package":{"watts":0.5,"joules":1.000001},)"
                              R"("dram":{"watts":0,"joules":0.000000}}}],"listed_joules":1.000001,)"
                              R"("unlisted_joules":0.000000,"unattributed_joules":0.000000}})"));
}

TEST(SnapshotJson, EveryLevel) {
  auto s = testing::EmptySnapshot({"package"});
  s.namespaces.zones = 1;
  testing::AddRow(s.containers, snapshot::ContainerIdentity{"c1", "web", "containerd", "p1"});
  testing::AddRow(s.vms, snapshot::VmIdentity{"v1", "guest", "kvm"});
  testing::AddRow(s.pods, snapshot::PodIdentity{.id = "p1", .name = "shop-0", .name_space = "shop"});
  s.namespaces.identity.push_back(std::make_shared<const snapshot::OwnerIdentity>(snapshot::OwnerIdentity{"shop"}));
  s.namespaces.energy.emplace_back();
  EXPECT_THAT(JsonOf(s, {.level = Level::kContainer}),
              HasSubstr(R"({"id":"c1","name":"web","namespace":"shop","pod":"shop-0","pod_id":"p1","container":"web",)"
                        R"("container_id":"c1","runtime":"containerd","running":true)"));
  EXPECT_THAT(JsonOf(s, {.level = Level::kVm}),
              HasSubstr(R"({"id":"v1","name":"guest","vm_id":"v1","runtime":"kvm","running":true)"));
  testing::AddRow(s.vms, snapshot::VmIdentity{"v2", "i-2a", "kvm", {"web", "m1.small", "995b", "shop", "anna"}});
  EXPECT_THAT(JsonOf(s, {.level = Level::kVm}),
              HasSubstr(R"("vm_id":"v2","instance":"web","project":"shop","project_id":"995b","runtime":"kvm")"));
  EXPECT_THAT(
      JsonOf(s, {.level = Level::kPod}),
      HasSubstr(R"({"id":"p1","name":"shop-0","namespace":"shop","pod":"shop-0","pod_id":"p1","running":true)"));
  EXPECT_THAT(JsonOf(s, {.level = Level::kNamespace}),
              HasSubstr(R"({"id":"shop","name":"shop","namespace":"shop","watts":0,"joules":0.000000)"));
}

TEST(SnapshotJson, WattsThatAreOld_OrOfAnEndedWorkload_AreLeftOut) {
  EXPECT_THAT(JsonOf(OneProcess(), {}, true), AllOf(Not(HasSubstr("watts\":")), HasSubstr(R"("stale":true)")));
  auto s = OneProcess();
  s.node[0].fresh = s.node[1].fresh = false;
  s.processes.state[0] = snapshot::State::kTerminated;
  EXPECT_THAT(JsonOf(s), AllOf(Not(HasSubstr("watts\":")), HasSubstr(R"("running":false)")));
}

TEST(SnapshotJson, SharedIdleEnergyIsApart) {
  auto s = testing::EmptySnapshot({"package", "platform", "package"});
  s.zones[0].source = "model";
  s.zones[1].source = "rapl";
  s.zones[1].domain = status::Domain::kPlatform;
  s.zones[2].domain = status::Domain::kIdleCpu;
  testing::AddRow(s.processes, testing::Process(1, "a"), {Energy::Joules(1), {}, Energy::Microjoules(40'855)});
  s.idle_payers = snapshot::IdlePayers::kByRequest;
  EXPECT_THAT(JsonOf(s), Not(HasSubstr("0.040855"))) << "only containers and pods share";
  s.idle_payers = snapshot::IdlePayers::kByUse;
  const std::string text = JsonOf(s);
  EXPECT_THAT(text, HasSubstr(R"("zones":{"package":{"watts":0,"joules":1.000000,"idle_joules":0.040855}})"));
  EXPECT_EQ(text.find(R"("zone":"package","path")"), text.rfind(R"("zone":"package","path")"));
  EXPECT_THAT(text, HasSubstr(R"("domain":"platform","source":"rapl","metered":true,"watts":0,"joules":0.000000})"));
  EXPECT_THAT(text, HasSubstr(R"("domain":"cpu","source":"model","metered":false)"));
}

TEST(SnapshotJson, HostileNamesStayInTheirString) {
  auto s = testing::EmptySnapshot({"pack\"age"});
  const std::string hostile = "a\"},\n{\x01\x1b[31m\\\xff\xfe</script>\u2028";
  testing::AddRow(s.processes, testing::Process(1, hostile, hostile, hostile));
  testing::AddRow(s.pods, snapshot::PodIdentity{.id = hostile, .name = hostile, .name_space = hostile});
  const std::string text = JsonOf(s);
  EXPECT_TRUE(IsValidUtf8(text));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  JsonOf(s, {.level = Level::kPod});
}

TEST(SnapshotJson, WhatHasNoRowIsSummed) {
  auto s = testing::EmptySnapshot({"package"});
  const auto pod = static_cast<size_t>(Level::kPod);
  s.unattributed[0] = Energy::Joules(3);
  s.unlisted[pod][0][0] = Energy::Joules(5);
  s.unlisted[pod][3][0] = Energy::Joules(7);
  s.unnamed[pod][0] = Energy::Joules(11);
  s.conservation_error[0][0] = Energy::Microjoules(2);
  s.conservation_error[1][0] = Energy::Microjoules(-2);
  const std::string text = JsonOf(s, {.level = Level::kPod});
  EXPECT_THAT(text, HasSubstr(R"("rows":[],"listed_joules":0.000000,"unlisted_joules":23.000000,)"
                              R"("unattributed_joules":3.000000)"));
  EXPECT_THAT(text, HasSubstr(R"("conservation_error_microjoules":4)"));
}

TEST(SnapshotJson, NoZonesOrLevels_NoWorkloads) {
  EXPECT_THAT(JsonOf(OneProcess(), {}, false, series::kNode),
              AllOf(HasSubstr("1.500000"), Not(HasSubstr("workloads"))));
  EXPECT_THAT(JsonOf(testing::EmptySnapshot({})), AllOf(HasSubstr(R"("zones":[])"), Not(HasSubstr("workloads"))));
}

TEST(MetersOf, StateAndReason) {
  auto s = testing::EmptySnapshot({"package"});
  for (const char* name : {"rapl", "dcmi", "hwmon", "acpi", "old"}) s.sources.emplace_back().name = name;
  s.sources[0].interface = "perf";
  s.sources[0].up = s.sources[0].has_moved = s.sources[2].up = s.sources[3].up = true;
  s.sources[1].problem = Error{ErrorKind::kTimeout, "no \"answer\""};
  s.sources[3].restart_needed = true;
  s.estimates.emplace_back();
  s.estimates.emplace_back().of_workloads = true;
  EXPECT_THAT(JsonOf(s),
              HasSubstr(R"j("meters":[{"name":"rapl (perf)","state":"in use"},)j"
                        R"({"name":"dcmi","state":"failed","reason":"no \"answer\""},)"
                        R"({"name":"hwmon","state":"in use","reason":"all its readings are 0 W"},)"
                        R"({"name":"acpi","state":"not used","reason":"it became readable only after startup; )"
                        R"(restart the agent to use it"},{"name":"old","state":"failed","reason":"it gives no )"
                        R"(reading"},{"name":"model","state":"in use","reason":"no meter measures the whole machine, )"
                        R"(so a power model estimates its power"}],)"));
  for (status::Zone& zone : s.zones) zone.source = "model";
  s.sources.assign(1, {});
  s.sources[0].name = "model";
  s.sources[0].up = s.sources[0].has_moved = true;
  EXPECT_THAT(JsonOf(s),
              HasSubstr(R"("meters":[{"name":"model","state":"in use","reason":"no meter of the CPUs can be read, )"
                        R"(so a power model estimates their energy"}],)"));
}

}  // namespace
}  // namespace kepler::api
