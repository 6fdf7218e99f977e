// A second visitor in addition to the text writer: samples as data, as protobuf or OTLP need them.
#include "export/series/visit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "export/series/visit_test_util.h"
#include "testing/snapshot_builder.h"

namespace kepler::series {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

class VisitSeriesTest : public ::testing::Test {
 protected:
  VisitSeriesTest() {
    snapshot_.node[0].total = Energy::Microjoules(7);
    snapshot_.node[0].begin = BootTime(seconds(3));
    testing::AddRow(snapshot_.processes, testing::Process(42, "sh", "/bin/sh", "c1"), {Energy::Microjoules(1)}, {0.5},
                    Nanoseconds(9));
    snapshot_.processes.begin = {BootTime(seconds(11))};
    const auto further = std::make_shared<const snapshot::LabelList>(snapshot::LabelList{{"label_tier", "front"}});
    testing::AddRow(snapshot_.pods, snapshot::PodIdentity{"p1", "shop", "default", further}, {Energy::Joules(5)}, {3});
  }
  LineVisitor Visit(const Selection& selection = {}, const Extras& extras = {}) {
    LineVisitor visitor;
    VisitSeries(snapshot_, selection, extras, visitor);
    EXPECT_EQ(CountSamples(snapshot_, selection, extras), visitor.samples());
    return visitor;
  }
  snapshot::Snapshot snapshot_ = testing::EmptySnapshot({"package", "dram"});
};

TEST_F(VisitSeriesTest, Samples_HaveExactValuesAndTheirBegin) {
  auto lines = Visit().lines;
  EXPECT_THAT(lines["kepler_node_cpu_joules_total"],
              ElementsAre("path=aggregated-package zone=package 7uJ @3", "path=aggregated-dram zone=dram 0uJ @0"));
  EXPECT_THAT(lines["kepler_process_cpu_joules_total"],
              ElementsAre("comm=sh container_id=c1 exe=/bin/sh pid=42 state=running type=container vm_id= zone=package "
                          "1uJ @11",
                          "comm=sh container_id=c1 exe=/bin/sh pid=42 state=running type=container vm_id= zone=dram "
                          "0uJ @11"));
  EXPECT_THAT(lines["kepler_process_cpu_seconds_total"],
              ElementsAre("comm=sh container_id=c1 exe=/bin/sh pid=42 type=container vm_id= 9ns @11"));
  EXPECT_THAT(lines["kepler_process_cpu_watts"], Contains(::testing::HasSubstr("zone=package 0.5 @11")));
}

TEST(Number, TimestampsAndTruth_AreNumbers) {
  EXPECT_EQ(Of(WallTime{}), Number(Nanoseconds(0))) << "never";
  EXPECT_EQ(Of(WallTime(std::chrono::milliseconds(250))), Number(Nanoseconds(250'000'000)));
  EXPECT_EQ(Of(true), Number(uint64_t{1}));
}

TEST_F(VisitSeriesTest, FurtherLabelsOfAPod_AreShown) {
  EXPECT_THAT(Visit().lines["kepler_pod_cpu_joules_total"],
              Contains("pod_id=p1 pod_name=shop pod_namespace=default state=running zone=package label_tier=front "
                       "5000000uJ @0"));
}

TEST_F(VisitSeriesTest, KubernetesLabels_AreOnPodsAndTheirContainers) {
  testing::AddRow(snapshot_.containers, snapshot::ContainerIdentity{"c1", "web", "docker", "p1", "shop", "default"});
  testing::AddRow(snapshot_.containers, snapshot::ContainerIdentity{"c2", "db", "docker", ""});
  const auto with = Visit().lines;
  auto lines = Visit({.labels = LabelSet::kKubernetes}).lines;
  EXPECT_THAT(lines["kepler_pod_cpu_joules_total"],
              Contains("namespace=default pod=shop pod_id=p1 state=running zone=package label_tier=front "
                       "5000000uJ @0"));
  EXPECT_THAT(
      lines["kepler_container_cpu_seconds_total"],
      ElementsAre("container_id=c1 container_name=web namespace=default pod=shop pod_id=p1 runtime=docker "
                  "state=running 0ns @0",
                  "container_id=c2 container_name=db namespace= pod= pod_id= runtime=docker state=running 0ns @0"));
  EXPECT_THAT(Visit({.state_label = false, .labels = LabelSet::kKubernetes}).lines["kepler_container_cpu_watts"],
              Contains("container_id=c1 container_name=web namespace=default pod=shop pod_id=p1 runtime=docker "
                       "zone=package 0 @0"));
  for (const auto& [name, samples] : with)
    if (!name.starts_with("kepler_pod_cpu") && !name.starts_with("kepler_container_")) {
      EXPECT_EQ(lines[name], samples) << name;
    }
}

TEST_F(VisitSeriesTest, NamespacesAndOwners_OnlyIfPodsAreNamed) {
  for (snapshot::RollUp* const of : {&snapshot_.namespaces, &snapshot_.owners}) {
    of->zones = 2;
    of->energy = {Energy::Microjoules(5), Energy::Microjoules(6)};
    of->begin = {BootTime(seconds(9))};
  }
  snapshot_.namespaces.identity = {std::make_shared<const snapshot::OwnerIdentity>("shop")};
  snapshot_.owners.identity = {std::make_shared<const snapshot::OwnerIdentity>("shop", "Deployment", "web")};
  const auto level = static_cast<size_t>(snapshot::Level::kNamespace);
  snapshot_.unlisted[level][1][0] = Energy::Microjoules(7);
  snapshot_.unnamed[level][0] = Energy::Microjoules(8);
  auto lines = Visit().lines;
  EXPECT_THAT(lines, Not(Contains(Key("kepler_namespace_cpu_joules_total"))));
  EXPECT_THAT(lines["kepler_node_cpu_unlisted_joules_total"], Not(Contains(HasSubstr("level=namespace"))));
  EXPECT_THAT(lines["kepler_conservation_error_joules"], Not(Contains(HasSubstr("level=owner"))));
  snapshot_.pod_informer.emplace();
  lines = Visit().lines;
  EXPECT_THAT(lines["kepler_namespace_cpu_joules_total"],
              ElementsAre("namespace=shop path=aggregated-package zone=package 5uJ @9",
                          "namespace=shop path=aggregated-dram zone=dram 6uJ @9"));
  EXPECT_THAT(lines["kepler_owner_cpu_joules_total"],
              Contains("namespace=shop owner_kind=Deployment owner_name=web path=aggregated-dram zone=dram 6uJ @9"));
  EXPECT_THAT(lines["kepler_node_cpu_unlisted_joules_total"],
              Contains("level=namespace path=aggregated-package reason=capped zone=package 7uJ @3"));
  EXPECT_THAT(lines["kepler_node_cpu_unnamed_joules"],
              Contains("level=namespace path=aggregated-package zone=package 8uJ @0"));
  EXPECT_THAT(lines["kepler_conservation_error_joules"], Contains("level=owner zone=dram 0uJ @0"));
  lines = Visit({.levels = kPod}).lines;
  EXPECT_THAT(lines, Not(Contains(Key("kepler_owner_cpu_joules_total"))));
  EXPECT_THAT(lines["kepler_node_cpu_unlisted_joules_total"], Not(Contains(HasSubstr("level=namespace"))));
}

TEST_F(VisitSeriesTest, Users_WithoutNamesOfPods) {
  snapshot_.users.zones = 2;
  snapshot_.users.identity = {std::make_shared<const snapshot::UserIdentity>(4'294'967'294U),
                              std::make_shared<const snapshot::UserIdentity>(1000U, "alice")};
  snapshot_.users.begin.assign(2, BootTime(seconds(9)));
  for (const int64_t energy : {5, 6, 7, 8}) snapshot_.users.energy.push_back(Energy::Microjoules(energy));
  snapshot_.unlisted[static_cast<size_t>(snapshot::Level::kUser)][2][0] = Energy::Microjoules(9);
  auto lines = Visit().lines;
  EXPECT_THAT(lines["kepler_user_cpu_joules_total"],
              ElementsAre("path=aggregated-package uid=4294967294 user= zone=package 5uJ @9",
                          "path=aggregated-dram uid=4294967294 user= zone=dram 6uJ @9",
                          "path=aggregated-package uid=1000 user=alice zone=package 7uJ @9",
                          "path=aggregated-dram uid=1000 user=alice zone=dram 8uJ @9"));
  EXPECT_THAT(lines["kepler_node_cpu_unlisted_joules_total"],
              Contains("level=user path=aggregated-package reason=unseen zone=package 9uJ @3"));
  EXPECT_THAT(lines["kepler_user_cpu_idle_joules_total"], ElementsAre());
  lines = Visit({.levels = kAllLevels & ~kUser}).lines;
  EXPECT_THAT(lines, Not(Contains(Key("kepler_user_cpu_joules_total"))));
  EXPECT_THAT(lines["kepler_node_cpu_unlisted_joules_total"], Not(Contains(HasSubstr("level=user"))));
}

TEST_F(VisitSeriesTest, CutProcesses_CountWithTheSamplesThatEachWouldHave) {
  EXPECT_THAT(Visit().lines["kepler_cut_series"], ElementsAre());
  snapshot_.cut = {.kernel_threads = 2, .min_power = 30, .max = 0};
  snapshot_.processes.begin.clear();  // of one row
  const auto one = std::get<uint64_t>(Of(CountSamples(snapshot_, {.levels = kProcess}, {})));
  testing::AddRow(snapshot_.processes, testing::Process(43, "sh", "/bin/sh", ""), {Energy{}}, {0.0}, Nanoseconds(0));
  const uint64_t each = CountSamples(snapshot_, {.levels = kProcess}, {}) - one;
  EXPECT_THAT(Visit().lines["kepler_cut_series"],
              ElementsAre(fmt::format("limit=kernel_threads {} @0", 2 * each), "limit=max_processes 0 @0",
                          fmt::format("limit=min_watts {} @0", 30 * each)));
}

TEST_F(VisitSeriesTest, CutProcesses_WithSharedIdleEnergy_HaveItsSamplesToo) {
  snapshot_.cut = {.kernel_threads = 1, .min_power = 0, .max = 0};
  snapshot_.zones[1].domain = status::Domain::kIdleCpu;
  for (const auto payers : {snapshot::IdlePayers::kByUse, snapshot::IdlePayers::kByRequest}) {
    snapshot_.idle_payers = payers;
    const uint64_t one = CountSamples(snapshot_, {.levels = kProcess}, {});
    auto more = snapshot_;
    testing::AddRow(more.processes, testing::Process(43, "sh", "/bin/sh", ""), {Energy{}}, {0.0}, Nanoseconds(0));
    const uint64_t each = CountSamples(more, {.levels = kProcess}, {}) - one;
    EXPECT_THAT(Visit().lines["kepler_cut_series"], Contains(fmt::format("limit=kernel_threads {} @0", each)));
  }
}

TEST_F(VisitSeriesTest, VmInfo_HasTheMetadataOfEveryVm) {
  snapshot::VmIdentity shop{"v1", "instance-2a", "kvm", {"web", "m1.small", "995b", "team shop", "anna"}};
  testing::AddRow(snapshot_.vms, shop);
  testing::AddRow(snapshot_.vms, snapshot::VmIdentity{"v2", "guest", "kvm"});
  EXPECT_THAT(Visit().lines["kepler_vm_info"],
              ElementsAre("flavor=m1.small hypervisor=kvm instance_name=web project_id=995b project_name=team shop "
                          "user_name=anna vm_id=v1 vm_name=instance-2a 1 @0",
                          "flavor= hypervisor=kvm instance_name= project_id= project_name= user_name= vm_id=v2 "
                          "vm_name=guest 1 @0"));
  EXPECT_THAT(Visit({.levels = kAllLevels & ~kVm}).lines["kepler_vm_info"], ElementsAre());
}

TEST_F(VisitSeriesTest, WithoutStateLabel_TheStateIsASeries) {
  EXPECT_THAT(Visit().lines["kepler_process_state_info"], ElementsAre());
  snapshot_.processes.state[0] = snapshot::State::kTerminated;
  testing::AddRow(snapshot_.containers, snapshot::ContainerIdentity{"c1", "web", "docker", "p1", "shop", "default"});
  testing::AddRow(snapshot_.vms, snapshot::VmIdentity{"v1", "guest", "kvm"});
  auto with = Visit().lines;
  auto lines = Visit({.state_label = false}).lines;
  EXPECT_THAT(lines["kepler_process_state_info"],
              ElementsAre("comm=sh container_id=c1 exe=/bin/sh pid=42 state=terminated type=container vm_id= 1 @11"));
  EXPECT_THAT(lines["kepler_container_state_info"],
              ElementsAre("container_id=c1 container_name=web pod_id=p1 runtime=docker state=running 1 @0"));
  EXPECT_THAT(lines["kepler_vm_state_info"], ElementsAre("hypervisor=kvm state=running vm_id=v1 vm_name=guest 1 @0"));
  EXPECT_THAT(lines["kepler_pod_state_info"],
              ElementsAre("pod_id=p1 pod_name=shop pod_namespace=default state=running label_tier=front 1 @0"));
  for (auto& [name, samples] : with) {
    if (name.ends_with("_state_info") || name == "kepler_exposed_series") continue;
    for (std::string& sample : samples)
      for (const std::string_view state : {"state=running ", "state=terminated "})
        if (const size_t at = sample.find(state); at != std::string::npos) sample.erase(at, state.size());
    EXPECT_EQ(lines[name], samples) << name;
  }
}

TEST_F(VisitSeriesTest, CutProcesses_WithoutStateLabel_HaveTheirStateToo) {
  snapshot_.cut = {.kernel_threads = 1, .min_power = 0, .max = 0};
  const Selection exact{.levels = kProcess, .state_label = false};
  const uint64_t one = CountSamples(snapshot_, exact, {});
  auto more = snapshot_;
  testing::AddRow(more.processes, testing::Process(43, "sh", "/bin/sh", ""), {Energy{}}, {0.0}, Nanoseconds(0));
  more.processes.begin.push_back({});
  EXPECT_THAT(Visit(exact).lines["kepler_cut_series"],
              Contains(fmt::format("limit=kernel_threads {} @0", CountSamples(more, exact, {}) - one)));
}

TEST_F(VisitSeriesTest, Pushes_HaveARowPerExporterAndReason) {
  EXPECT_THAT(Visit().lines, Not(Contains(Key("kepler_push_requests_total"))));
  std::vector<status::PushStatus> pushes(1);
  pushes[0].exporter = "otlp";
  pushes[0].requests = 3;
  pushes[0].queued_bytes = 4;
  pushes[0].failures[static_cast<size_t>(status::PushFailure::kThrottled)] = 5;
  pushes[0].dropped_points[static_cast<size_t>(status::PushDrop::kPartial)] = 6;
  pushes[0].last_success = WallTime(seconds(7));
  auto lines = Visit({}, {.pushes = pushes}).lines;
  EXPECT_THAT(lines["kepler_push_requests_total"], ElementsAre("exporter=otlp 3 @0"));
  EXPECT_THAT(lines["kepler_push_queue_bytes"], ElementsAre("exporter=otlp 4 @0"));
  EXPECT_THAT(lines["kepler_push_last_success_timestamp_seconds"], ElementsAre("exporter=otlp 7000000000ns @0"));
  EXPECT_THAT(lines["kepler_push_failures_total"], Contains("exporter=otlp reason=throttled 5 @0"));
  EXPECT_THAT(lines["kepler_push_dropped_points_total"],
              ElementsAre("exporter=otlp reason=queue_full 0 @0", "exporter=otlp reason=refused 0 @0",
                          "exporter=otlp reason=partial 6 @0", "exporter=otlp reason=file 0 @0"));
}

TEST_F(VisitSeriesTest, StaleOrNotSelected_IsLeftOut) {
  EXPECT_THAT(Visit({}, {.stale = true}).lines, Not(Contains(Key("kepler_process_cpu_watts"))));
  EXPECT_THAT(Visit({.levels = kPod}).lines, Not(Contains(Key("kepler_process_cpu_joules_total"))));
  const status::SelfStatus self;
  EXPECT_THAT(Visit({}, {.self = &self}).lines, Contains(Key("process_open_fds")));
}

}  // namespace
}  // namespace kepler::series
