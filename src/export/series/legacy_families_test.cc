// The names of Kepler 0.7: catalogue, labels, and the same joules as with the names of 0.11.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/parse.h"
#include "export/series/family_table.h"
#include "export/series/visit_test_util.h"
#include "testing/snapshot_builder.h"

namespace kepler::series {
namespace {

using snapshot::IdlePayers;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;

std::set<std::string> NamesOf(std::span<const Family> families) {
  std::set<std::string> names;
  for (const Family& family : families) EXPECT_TRUE(names.emplace(family.name).second) << family.name;
  return names;
}

TEST(LegacyFamilies, V07_HasThemInPlaceOfThoseOfWorkloads) {
  const auto names = NamesOf(Families(NameSet::kV07));
  EXPECT_THAT(names, IsSupersetOf(NamesOf(LegacyFamilies())));
  EXPECT_THAT(names, IsSupersetOf({"kepler_build_info", "kepler_node_cpu_joules_total",
                                   "kepler_node_cpu_unlisted_joules_total", "kepler_node_platform_joules_total",
                                   "kepler_conservation_error_joules", "kepler_cut_series", "process_open_fds"}));
  for (const std::string& name : names)
    for (const std::string_view prefix : {"kepler_process_cpu_", "kepler_container_cpu_", "kepler_vm_cpu_"})
      EXPECT_EQ(name.starts_with(prefix), name.starts_with(prefix) && NamesOf(LegacyFamilies()).contains(name)) << name;
  EXPECT_THAT(names, Not(Contains("kepler_pod_cpu_watts")));
  EXPECT_THAT(names, Not(Contains("kepler_process_state_info")));
}

TEST(LegacyFamilies, Both_HasAllNamesOnce) {
  for (const bool state_label : {false, true}) {
    const auto families = Families(NameSet::kBoth, state_label);
    EXPECT_TRUE(std::ranges::is_sorted(families, {}, &Family::name));
    const auto names = NamesOf(families);
    EXPECT_THAT(names, IsSupersetOf(NamesOf(LegacyFamilies())));
    EXPECT_THAT(names, IsSupersetOf(NamesOf(Families())));
    const auto cycles = std::ranges::find(families, "kepler_container_cpu_cycles_total", &Family::name);
    ASSERT_NE(cycles, families.end());
    EXPECT_EQ(cycles->origin, Origin::kLegacy);
  }
}

TEST(LegacyFamilies, LabelSet_ChangesOnlyTheFamiliesOf011) {
  const auto plain = Families(NameSet::kBoth);
  const auto kubernetes = Families(NameSet::kBoth, true, LabelSet::kKubernetes);
  ASSERT_EQ(plain.size(), kubernetes.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    const bool same = std::ranges::equal(plain[i].labels, kubernetes[i].labels);
    const bool of_pods = plain[i].gates == kPod || plain[i].gates == kContainer;
    EXPECT_EQ(same, plain[i].origin == Origin::kLegacy || !of_pods) << plain[i].name;
    EXPECT_TRUE(std::ranges::is_sorted(kubernetes[i].labels)) << plain[i].name;
    EXPECT_EQ(plain[i].labels.empty() ? "" : plain[i].labels.back(),
              kubernetes[i].labels.empty() ? "" : kubernetes[i].labels.back())
        << "a zone is the last label";
  }
}

TEST(LegacyFamilies, Default_HasNone) {
  for (const Family& family : Families()) EXPECT_NE(family.origin, Origin::kLegacy) << family.name;
}

class LegacyRows : public ::testing::Test {
 protected:
  LegacyRows() {
    s_.zones[2].domain = status::Domain::kOther;
    s_.node[0].active = Energy::Microjoules(7);
    s_.node[0].idle = Energy::Microjoules(2);
    s_.node[0].begin = BootTime(seconds(3));
  }
  std::map<std::string, std::vector<std::string>> Visit(NameSet names = NameSet::kV07, uint32_t levels = kAllLevels) {
    LineVisitor visitor;
    const Selection selection{
        .levels = levels,
        .build = {.version = "1", .revision = "r", .branch = "b", .compiler = {}, .arch = "amd64"},
        .names = names,
        .node_name = "n1"};
    VisitSeries(s_, selection, {}, visitor);
    EXPECT_EQ(CountSamples(s_, selection, {}), visitor.samples());
    return visitor.lines;
  }
  void ShareIdle(IdlePayers payers) {
    s_.zones[2].domain = status::Domain::kIdleCpu;
    s_.zones[2].name = "package";
    s_.idle_payers = payers;
  }
  static Energy Uj(int64_t uj) { return Energy::Microjoules(uj); }

  snapshot::Snapshot s_ = testing::EmptySnapshot({"package", "dram", "idle"});
};

TEST_F(LegacyRows, Node_HasBothModes) {
  s_.zones[0].source = "rapl";
  s_.zones[1].path = "model";
  s_.zones[1].source = "model";
  auto lines = Visit();
  EXPECT_THAT(lines["kepler_node_package_joules_total"],
              ElementsAre("instance=n1 mode=dynamic package=aggregated-package source=rapl-sysfs 7uJ @3",
                          "instance=n1 mode=idle package=aggregated-package source=rapl-sysfs 2uJ @3"));
  EXPECT_THAT(lines["kepler_node_dram_joules_total"],
              Contains("instance=n1 mode=idle package=model source=trained_power_model 0uJ @0"));
  EXPECT_THAT(lines, Not(Contains(Key("kepler_node_core_joules_total")))) << "this machine has no such zone";
  EXPECT_THAT(lines["kepler_node_info"], ElementsAre("components_power_source=rapl-sysfs cpu_architecture=unknown "
                                                     "platform_power_source=none source=os 1 @0"));
  EXPECT_THAT(lines["kepler_exporter_build_info"],
              ElementsAre("arch=amd64 branch=b os=linux revision=r version=1 1 @0"));
  s_.sources.emplace_back();
  s_.sources[0].name = "rapl";
  s_.sources[0].interface = "msr";
  EXPECT_THAT(Visit()["kepler_node_package_joules_total"],
              Contains("instance=n1 mode=idle package=aggregated-package source=rapl-msr 2uJ @3"));
}

TEST_F(LegacyRows, Container_HasTheNameOfItsPod) {
  testing::AddRow(s_.containers, snapshot::ContainerIdentity{"c1", "web", "docker", "p1", "shop", "default"},
                  {Uj(3), Uj(4), Uj(5)});
  testing::AddRow(s_.containers, snapshot::ContainerIdentity{"c2", "db", "docker", ""}, {Uj(1)});
  s_.containers.begin = {BootTime(seconds(8)), BootTime(seconds(9))};
  s_.unlisted[1][3] = {Uj(11), Uj(12), Uj(13)};
  const std::string web = "container_id=c1 container_name=web container_namespace=default ";
  const std::string db = "container_id=c2 container_name=db container_namespace= ";
  const std::string system =
      "container_id=system_processes container_name=system_processes container_namespace=system ";
  const std::string pod = "pod_id=p1 pod_name=shop runtime=docker ";
  const std::string none = "pod_id= pod_name= runtime=docker ";
  const std::string outside = "pod_id= pod_name=system_processes runtime= ";
  auto lines = Visit();
  EXPECT_THAT(lines["kepler_container_package_joules_total"],
              ElementsAre(web + "mode=dynamic " + pod + "source=fake 3uJ @8",
                          db + "mode=dynamic " + none + "source=fake 1uJ @9",
                          system + "mode=dynamic " + outside + "source=fake 11uJ @3"));
  EXPECT_THAT(
      lines["kepler_container_joules_total"],
      ElementsAre(web + "mode=dynamic " + pod + "source= 7uJ @8", db + "mode=dynamic " + none + "source= 1uJ @9",
                  system + "mode=dynamic " + outside + "source= 23uJ @3"));
  EXPECT_THAT(lines["kepler_container_bpf_cpu_time_ms_total"], Contains(web + pod + "source=procfs 0 @8"));
  for (const auto payers : {IdlePayers::kByUse, IdlePayers::kByRequest}) {
    ShareIdle(payers);
    EXPECT_THAT(
        Visit()["kepler_container_joules_total"],
        IsSupersetOf({web + "mode=dynamic " + pod + "source= 7uJ @8", web + "mode=idle " + pod + "source= 5uJ @8",
                      system + "mode=idle " + outside + "source= 13uJ @0"}));
  }
}

TEST_F(LegacyRows, ProcessAndVm_HaveIdleEnergyOnlyByUse) {
  testing::AddRow(s_.processes, testing::Process(42, "sh", "/bin/sh", "c1"), {Uj(1), Uj(2), Uj(3)}, {},
                  Nanoseconds(1'500'001));
  testing::AddRow(s_.vms, snapshot::VmIdentity{"v1", "guest", "kvm"}, {Uj(4), Uj(5), Uj(6)});
  s_.processes.events = {{100, 200, 30}};
  const std::string sh = "command=sh container_id=c1 exe=/bin/sh ";
  for (const bool shared : {false, true}) {
    if (shared) ShareIdle(IdlePayers::kByRequest);
    auto lines = Visit();
    EXPECT_THAT(lines["kepler_process_joules_total"],
                ElementsAre(sh + "mode=dynamic pid=42 source= type=container vm_id= 3uJ @0"));
    EXPECT_THAT(lines["kepler_vm_dram_joules_total"],
                ElementsAre("hypervisor=kvm mode=dynamic source=fake vm_id=v1 vm_name=guest 5uJ @0"));
    EXPECT_THAT(lines["kepler_process_bpf_cpu_time_ms_total"],
                ElementsAre(sh + "pid=42 source=procfs type=container vm_id= 1.500001 @0"));
    EXPECT_THAT(lines["kepler_process_cpu_cycles_total"],
                ElementsAre(sh + "pid=42 source=procfs type=container vm_id= 100 @0"));
  }
  ShareIdle(IdlePayers::kByUse);
  auto lines = Visit();
  EXPECT_THAT(lines["kepler_process_joules_total"],
              Contains(sh + "mode=idle pid=42 source= type=container vm_id= 3uJ @0"));
  EXPECT_THAT(lines["kepler_vm_package_joules_total"],
              Contains("hypervisor=kvm mode=idle source=fake vm_id=v1 vm_name=guest 6uJ @0"));
}

TEST_F(LegacyRows, Levels_SelectThem) {
  testing::AddRow(s_.vms, snapshot::VmIdentity{"v1", "guest", "kvm"});
  const auto lines = Visit(NameSet::kV07, kVm);
  EXPECT_THAT(lines, Contains(Key("kepler_vm_package_joules_total")));
  EXPECT_THAT(lines, Not(Contains(Key("kepler_container_package_joules_total"))));
  EXPECT_THAT(lines, Not(Contains(Key("kepler_node_package_joules_total"))));
}

TEST_F(LegacyRows, CutProcesses_CountWithTheSamplesThatEachWouldHave) {
  s_.cut = {.kernel_threads = 1, .min_power = 0, .max = 0};
  s_.processes.events = {{}};
  testing::AddRow(s_.processes, testing::Process(42, "sh"));
  s_.processes.events.resize(1);
  for (const bool shared : {false, true}) {
    if (shared) ShareIdle(IdlePayers::kByUse);
    auto more = s_;
    testing::AddRow(more.processes, testing::Process(43, "sh"));
    for (const NameSet names : {NameSet::kV011, NameSet::kV07, NameSet::kBoth}) {
      const Selection selection{.levels = kProcess, .names = names};
      const uint64_t each = CountSamples(more, selection, {}) - CountSamples(s_, selection, {});
      EXPECT_GT(each, 3U);
      EXPECT_THAT(Visit(names)["kepler_cut_series"], Contains(fmt::format("limit=kernel_threads {} @0", each)));
    }
  }
}

/// Sum of the samples with that text in their labels.
int64_t SumOf(const std::vector<std::string>& lines, std::string_view with = "") {
  int64_t sum = 0;
  for (const std::string& line : lines) {
    const size_t end = line.find("uJ @");
    const size_t begin = line.rfind(' ', end - 1) + 1;
    if (line.contains(with)) sum += *ParseNumber<int64_t>(std::string_view(line).substr(begin, end - begin));
  }
  return sum;
}

RC_GTEST_FIXTURE_PROP(LegacyRows, Sums_AreThoseOfThe011Names, (const std::vector<uint32_t>& figures)) {
  s_ = testing::EmptySnapshot(
      {"package", "core", "dram", "uncore", "psys", "package", "core", "dram", "uncore", "psys"});
  for (size_t z = 5; z < 10; ++z) s_.zones[z].domain = status::Domain::kIdleCpu;
  s_.idle_payers = IdlePayers::kByUse;
  size_t next = 0;
  const auto any = [&] { return Uj(figures.empty() ? 1 : int64_t{figures[next++ % figures.size()]} << 20 | 1); };
  const auto row = [&] {
    std::vector<Energy> energy(10);
    std::ranges::generate(energy, any);
    return energy;
  };
  for (size_t i = 0; i < 1 + figures.size() % 5; ++i) {
    const std::string id = std::to_string(i);
    testing::AddRow(s_.processes, testing::Process(static_cast<int32_t>(i), "sh"), row());
    testing::AddRow(s_.containers, snapshot::ContainerIdentity{id, "c", "docker", "p"}, row());
    testing::AddRow(s_.vms, snapshot::VmIdentity{id, "v", "kvm"}, row());
  }
  for (size_t z = 0; z < 10; ++z) {
    s_.node[z].active = any();
    s_.node[z].idle = any();
    s_.unlisted[1][3][z] = any();
  }
  auto lines = Visit(NameSet::kBoth);
  for (const std::string level : {"process", "container", "vm"})
    for (const std::string mode : {"dynamic", "idle"}) {
      const std::string own = "kepler_" + level + (mode == "idle" ? "_cpu_idle" : "_cpu") + "_joules_total";
      const std::string unlisted =
          mode == "idle" ? "kepler_node_cpu_idle_unlisted_joules_total" : "kepler_node_cpu_unlisted_joules_total";
      int64_t total = 0;
      for (const std::string zone : {"package", "core", "dram", "uncore"}) {
        int64_t wanted = SumOf(lines[own], "zone=" + zone + " ");
        if (level == "container")
          wanted += SumOf(lines[unlisted], "level=container path=aggregated-" + zone + " reason=outside ");
        RC_ASSERT(wanted > 0);
        RC_ASSERT(SumOf(lines["kepler_" + level + "_" + zone + "_joules_total"], "mode=" + mode) == wanted);
        total += zone == "package" || zone == "dram" ? wanted : 0;
      }
      if (level != "vm") RC_ASSERT(SumOf(lines["kepler_" + level + "_joules_total"], "mode=" + mode) == total);
    }
  for (const std::string zone : {"package", "core", "dram", "uncore"})
    RC_ASSERT(SumOf(lines["kepler_node_" + zone + "_joules_total"]) ==
              SumOf(lines["kepler_node_cpu_active_joules_total"], "zone=" + zone + " ") +
                  SumOf(lines["kepler_node_cpu_idle_joules_total"], "zone=" + zone + " "));
}

}  // namespace
}  // namespace kepler::series
