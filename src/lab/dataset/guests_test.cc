#include "lab/dataset/guests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lab/dataset/extract_test_util.h"

namespace kepler::lab::dataset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Of a machine on host h; every 5 s from `shift` seconds behind those of the guest.
Series Vm(const std::string& name, const std::string& id, double watts, double shift = 0) {
  Series series = Every5s({{"job", "hosts"},
                           {"node_name", "h"},
                           {"state", "running"},
                           {"vm_id", id},
                           {"vm_name", name},
                           {"zone", "package"}},
                          13, Line(70, watts));
  for (Sample& sample : series.samples) sample.time += shift;
  return series;
}
/// A guest of two busy CPUs that estimates 40 W for itself.
Recording Guest() {
  Recording guest = Steady();
  guest.metrics[kEnergy][0].labels = Zone("a", "package", "model");
  guest.metrics["kepler_node_cpus"] = {Every5s(Node("a"), 13, Line(2, 0))};
  guest.metrics["kepler_node_memory_used_bytes"] = {Every5s(Node("a"), 13, Line(5000, -10))};
  return guest;
}
Recording Host() {
  Recording host;
  host.metrics[std::string(kVmEnergy)] = {Vm("web", "1-2", 12, 2)};
  return host;
}
Extraction Rows(Recording guest, Recording host, const std::vector<GuestVm>& vms = {}) {
  auto joined = JoinHost(guest, std::move(host), vms);
  EXPECT_TRUE(joined) << joined.error().message;
  if (!joined) return {};
  return Extract(std::move(guest), {.nodes = joined->nodes});
}
std::string JoinError(Recording guest, Recording host, const std::vector<GuestVm>& vms = {}) {
  const auto joined = JoinHost(guest, std::move(host), vms);
  return joined ? "no error" : joined.error().message;
}

TEST(JoinHost, OnlyGuestAndOnlyMachine_HostsWattsAtTheHostsTimes) {
  const Extraction out = Rows(Guest(), Host());
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "cores", "memory_used_bytes", "package_power"));
  EXPECT_THAT(out.nodes, ElementsAre("a"));
  EXPECT_EQ(out.rows.front().end, 1012) << "between two scrapes of the guest";
  ExpectAll(out, "package_power", 12);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
  ExpectAll(out, "cores", 2);
  EXPECT_DOUBLE_EQ(ColumnOf(out, "memory_used_bytes").front(), 5000 - 120) << "a gauge may fall";
}

TEST(JoinHost, IdleShare_IsAColumnOfItsOwn) {
  Recording host = Host();
  host.metrics[std::string(kVmIdleEnergy)] = {Vm("web", "1-2", 3, 2)};
  const Extraction out = Rows(Guest(), std::move(host));
  ExpectAll(out, "package_power", 12);
  ExpectAll(out, "package_idle_power", 3);
}

TEST(JoinHost, IdleShareThatRests_EndsNoRowLater) {
  Recording host = Host();
  Series idle = Vm("web", "1-2", 0, 2);
  for (size_t i = 4; i < idle.samples.size(); ++i) idle.samples[i].value = i < 8 ? 80 : 90;
  host.metrics[std::string(kVmIdleEnergy)] = {idle};
  const Extraction out = Rows(Guest(), std::move(host));
  EXPECT_THAT(out.rows, SizeIs(10));
  EXPECT_THAT(ColumnOf(out, "package_idle_power"), Contains(0));
}

TEST(JoinHost, TimesOfTheHostsReadings_CountNotThoseOfItsScrapes) {
  Recording host = Host();
  host.metrics[std::string(kSnapshotTime)] = {Every5s({{"job", "hosts"}, {"node_name", "h"}}, 13, Line(1001, 1))};
  for (Sample& sample : host.metrics[std::string(kSnapshotTime)][0].samples) sample.time += 2;
  EXPECT_EQ(Rows(Guest(), std::move(host)).rows.front().end, 1011);
}

TEST(JoinHost, OneRecordingOfBoth_NamesOrPairsSayWhichIsWhich) {
  Recording both = Guest();
  both.metrics[kCpu].push_back(Every5s(Node("h"), 13, Line(0, 4)));
  both.metrics[kEnergy].push_back(Every5s(Zone("h", "package"), 13, Line(0, 90)));
  both.metrics[std::string(kVmEnergy)] = {Vm("a", "1", 12), Vm("other", "2", 5)};
  const Extraction named = Rows(both, {});
  EXPECT_THAT(named.nodes, ElementsAre("a"));
  ExpectAll(named, "package_power", 12);
  ExpectAll(Rows(both, {}, {{.node = "a", .vm = "2"}}), "package_power", 5);
}

TEST(JoinHost, MovedToAnotherHost_BothCount) {
  Recording host = Host();
  auto& machines = host.metrics[std::string(kVmEnergy)];
  machines.push_back(Vm("web", "1-2", 20, 2));
  machines[1].labels[1].second = "h2";
  machines[0].samples.resize(6);
  machines[1].samples.erase(machines[1].samples.begin(), machines[1].samples.begin() + 6);
  const auto watts = ColumnOf(Rows(Guest(), std::move(host)), "package_power");
  EXPECT_NEAR(watts.front(), 12, 1e-6);
  EXPECT_NEAR(watts.back(), 20, 1e-6);
}

TEST(JoinHost, EstimateOfTheHost_StaysOne) {
  Recording host = Host();
  host.metrics[std::string(kEnergySource)] = {
      Every5s({{"node_name", "h"}, {"path", "model"}, {"source", "model"}, {"zone", "package"}}, 13, Line(1, 0))};
  Recording guest = Guest();
  ASSERT_TRUE(JoinHost(guest, std::move(host), {}));
  EXPECT_THAT(ErrorOf(std::move(guest)), HasSubstr("all energy is estimated by a model"));
}

TEST(JoinHost, EndedMachines_AreNone) {
  Recording host = Host();
  Series ended = Vm("web", "0-9", 0);
  std::ranges::find(ended.labels, "state", &Labels::value_type::first)->second = "terminated";
  host.metrics[std::string(kVmEnergy)].push_back(ended);
  ExpectAll(Rows(Guest(), std::move(host)), "package_power", 12);
}

TEST(JoinHost, WhatIsMissingOrAmbiguous_IsAnError) {
  EXPECT_THAT(JoinError(Guest(), {}),
              HasSubstr("no energy of virtual machines: kepler_vm_cpu_joules_total is missing"));
  EXPECT_THAT(JoinError({}, Host()), HasSubstr("no features of guests"));
  EXPECT_THAT(JoinError(Guest(), Host(), {{.vm = "db"}}), HasSubstr("no virtual machine \"db\"; available: web"));
  EXPECT_THAT(JoinError(Guest(), Host(), {{.node = "b", .vm = "web"}}), HasSubstr("no node \"b\""));
  EXPECT_THAT(JoinError(Guest(), Host(), {{.vm = "web"}, {.vm = "1-2"}}), HasSubstr("has two virtual machines"));
  Recording two = Guest();
  two.metrics[kCpu].push_back(Every5s(Node("b"), 13, Line(0, 4)));
  EXPECT_THAT(JoinError(two, Host(), {{.node = "a", .vm = "web"}, {.node = "b", .vm = "1-2"}}),
              HasSubstr("virtual machine \"1-2\" has two nodes: a, b; set one"));
  Recording host = Host();
  host.metrics[std::string(kVmEnergy)].push_back(Vm("web", "7", 1));
  EXPECT_THAT(JoinError(Guest(), host, {{.vm = "web"}}), HasSubstr("set one of their ids: 1-2, 7"));
  host.metrics[std::string(kVmEnergy)].push_back(Vm("db", "8", 1));
  EXPECT_THAT(JoinError(Guest(), std::move(host)), HasSubstr("set --vm=NODE=VM; nodes: a; virtual machines: db, web"));
}

TEST(JoinHost, NotesSayWhatTheWattsAre) {
  Recording guest = Guest();
  const auto joined = JoinHost(guest, Host(), std::vector{ParseGuestVm("a=web")});
  ASSERT_TRUE(joined);
  EXPECT_THAT(joined->notes, Contains(HasSubstr("watts of a are the active share of virtual machine web")));
  EXPECT_THAT(joined->notes, Contains(HasSubstr("there is no idle share")));
}

}  // namespace
}  // namespace kepler::lab::dataset
