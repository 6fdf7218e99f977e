#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "export/prometheus/render_test_util.h"

namespace kepler::prometheus {
namespace {

using kepler::testing::AddRow;
using kepler::testing::EmptySnapshot;
using kepler::testing::Process;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Render, DomainsOfAZone_AreCountedBySource) {
  const std::string text = Text(Full());
  EXPECT_THAT(SamplesOf(text, "kepler_source_zone_domains"),
              ::testing::ElementsAre(R"(kepler_source_zone_domains{node_name="n1",source="rapl",zone="package"} 2)",
                                     R"(kepler_source_zone_domains{node_name="n1",source="fake",zone="dram"} 3)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_source_zone_domains_read"),
      ::testing::ElementsAre(R"(kepler_source_zone_domains_read{node_name="n1",source="rapl",zone="package"} 1)",
                             R"(kepler_source_zone_domains_read{node_name="n1",source="fake",zone="dram"} 3)"));
  EXPECT_THAT(SamplesOf(text, "kepler_source_restart_needed"),
              ::testing::ElementsAre(R"(kepler_source_restart_needed{node_name="n1",source="rapl"} 1)"));
}

TEST(Render, Workloads_ExactSamples) {
  const std::string text = Text(Full());
  EXPECT_THAT(
      SamplesOf(text, "kepler_process_cpu_joules_total"),
      ElementsAre(
          R"(kepler_process_cpu_joules_total{comm="a\"b",container_id="c1",exe="/bin/x",node_name="n1",pid="42",state="running",type="container",vm_id="",zone="package"} 1.000001)",
          R"(kepler_process_cpu_joules_total{comm="a\"b",container_id="c1",exe="/bin/x",node_name="n1",pid="42",state="running",type="container",vm_id="",zone="dram"} 0)",
          R"(kepler_process_cpu_joules_total{comm="old",container_id="",exe="",node_name="n1",pid="43",state="terminated",type="regular",vm_id="",zone="package"} 2)",
          R"(kepler_process_cpu_joules_total{comm="old",container_id="",exe="",node_name="n1",pid="43",state="terminated",type="regular",vm_id="",zone="dram"} 0)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_process_cpu_seconds_total"),
      ElementsAre(
          R"(kepler_process_cpu_seconds_total{comm="a\"b",container_id="c1",exe="/bin/x",node_name="n1",pid="42",type="container",vm_id=""} 1.5)",
          R"(kepler_process_cpu_seconds_total{comm="old",container_id="",exe="",node_name="n1",pid="43",type="regular",vm_id=""} 1)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_container_cpu_watts"),
      ElementsAre(
          R"(kepler_container_cpu_watts{container_id="c1",container_name="web",node_name="n1",pod_id="p1",runtime="docker",state="running",zone="package"} 1.25)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_container_cpu_seconds_total"),
      ElementsAre(
          R"(kepler_container_cpu_seconds_total{container_id="c1",container_name="web",node_name="n1",pod_id="p1",runtime="docker",state="running"} 4)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_vm_cpu_watts"),
      ElementsAre(
          R"(kepler_vm_cpu_watts{hypervisor="kvm",node_name="n1",state="running",vm_id="v1",vm_name="guest",zone="package"} 2)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_vm_info"),
      ElementsAre(
          R"(kepler_vm_info{flavor="",hypervisor="kvm",instance_name="",node_name="n1",project_id="",project_name="",user_name="",vm_id="v1",vm_name="guest"} 1)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_pod_cpu_watts"),
      ElementsAre(
          R"(kepler_pod_cpu_watts{node_name="n1",pod_id="p1",pod_name="shop",pod_namespace="default",state="running",zone="package"} 3)"));
}

TEST(Render, SelfFigures_ExactSamples) {
  const std::string text = Text(Full());
  const auto lines = Lines(text);
  for (
      const char* line : {
          R"(kepler_source_up{node_name="n1",source="rapl"} 1)",
          R"(kepler_source_up{node_name="n1",source="procfs"} 1)",
          R"(kepler_source_interface_info{interface="powercap",node_name="n1",source="rapl"} 1)",
          R"(kepler_source_last_success_timestamp_seconds{node_name="n1",source="rapl"} 1700000000)",
          R"(kepler_source_last_success_timestamp_seconds{node_name="n1",source="procfs"} 0)",
          R"(kepler_source_rejected_readings_total{node_name="n1",source="rapl"} 1)",
          R"(kepler_source_rejected_joules_total{node_name="n1",source="rapl"} 8)",
          R"(kepler_source_resets_total{node_name="n1",source="rapl"} 2)",
          R"(kepler_source_failed_reads_total{node_name="n1",source="rapl"} 3)",
          R"(kepler_source_unknown_wraps_total{node_name="n1",source="rapl"} 5)",
          R"(kepler_source_failed_reads_total{node_name="n1",source="procfs"} 0)",
          R"(kepler_activity_source_info{node_name="n1",source="procfs"} 1)",
          R"(kepler_activity_vanished_total{node_name="n1"} 4)",
          R"(kepler_activity_cpu_time_info{interrupts="apart",node_name="n1",steal="in-task"} 1)",
          R"(kepler_activity_records_total{kind="task",node_name="n1"} 100)",
          R"(kepler_activity_records_total{kind="exec",node_name="n1"} 50)",
          R"(kepler_activity_dropped_total{kind="unreported",node_name="n1"} 7)",
          R"(kepler_activity_dropped_total{kind="task",node_name="n1"} 2)",
          R"(kepler_activity_dropped_total{kind="exec",node_name="n1"} 0)",
          R"(kepler_activity_lost_seconds_total{node_name="n1"} 0.001)",
          R"(kepler_activity_iterator_seconds_total{node_name="n1"} 0.002)",
          R"(kepler_activity_bpf_run_seconds_total{node_name="n1"} 0.003)",
          R"(kepler_activity_bpf_runs_total{node_name="n1"} 4)",
          R"(kepler_attribution_info{method="cycles-instructions-mix",node_name="n1",ratio="exact",zone="package"} 1)",
          R"(kepler_attribution_info{method="cache-misses",node_name="n1",ratio="exact",zone="dram"} 1)",
          R"(kepler_node_cpu_busy_ratio{method="exact",node_name="n1"} 0.25)",
          R"(kepler_node_cpu_busy_ratio{method="proc-stat",node_name="n1"} 0.5)",
          R"(kepler_node_cpu_usage_ratio{node_name="n1"} 0.25)",
          R"(kepler_node_energy_source_info{node_name="n1",path="/sys/class/powercap/intel-rapl:0",source="rapl",zone="package"} 1)",
          R"(kepler_node_cpu_unattributed_seconds_total{node_name="n1"} 0.01)",
          R"(kepler_node_cpu_unlisted_joules_total{level="process",node_name="n1",path="/sys/class/powercap/intel-rapl:0",reason="capped",zone="package"} 7)",
          R"(kepler_ticks_total{node_name="n1"} 10)",
          R"(kepler_missed_ticks_total{node_name="n1"} 1)",
          R"(kepler_failed_ticks_total{node_name="n1"} 2)",
          R"(kepler_unpublished_snapshots_total{node_name="n1"} 3)",
          R"(kepler_tick_seconds_total{node_name="n1"} 0.05)",
          R"(kepler_tick_cpu_seconds_total{node_name="n1"} 0.04)",
          R"(kepler_tick_skew_seconds{node_name="n1"} 0.000012)",
          R"(kepler_build_info{arch="amd64",branch="main",goversion="g++ 12",revision="abc",version="0.1.0"} 1)",
          // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one line in two parts
          "kepler_node_cpu_info{core_id=\"0\",model_name=\"Xeon(R) \xEF\xBF\xBD\",physical_id=\"0\",processor=\"0\","
          "vendor_id=\"GenuineIntel\"} 1",
      })
    EXPECT_THAT(lines, Contains(line));
}

TEST(Render, Events_ExactSamples) {
  const std::string text = Text(Full());
  EXPECT_THAT(
      SamplesOf(text, "kepler_process_cpu_cycles_total"),
      ElementsAre(
          R"(kepler_process_cpu_cycles_total{comm="a\"b",container_id="c1",exe="/bin/x",node_name="n1",pid="42",type="container",vm_id=""} 1000)",
          R"(kepler_process_cpu_cycles_total{comm="old",container_id="",exe="",node_name="n1",pid="43",type="regular",vm_id=""} 1)"));
  EXPECT_THAT(SamplesOf(text, "kepler_process_cpu_instructions_total"),
              ElementsAre(::testing::EndsWith(" 2000"), ::testing::EndsWith(" 2")));
  EXPECT_THAT(SamplesOf(text, "kepler_process_cache_miss_total"),
              ElementsAre(::testing::EndsWith(" 30"), ::testing::EndsWith(" 3")));
  EXPECT_THAT(
      SamplesOf(text, "kepler_container_cpu_cycles_total"),
      ElementsAre(
          R"(kepler_container_cpu_cycles_total{container_id="c1",container_name="web",node_name="n1",pod_id="p1",runtime="docker",state="running"} 4000)"));
  EXPECT_THAT(SamplesOf(text, "kepler_container_cpu_instructions_total"), ElementsAre(::testing::EndsWith(" 5000")));
  EXPECT_THAT(SamplesOf(text, "kepler_container_cache_miss_total"), ElementsAre(::testing::EndsWith(" 60")));
}

TEST(Render, NothingCounted_NoEventFamilies) {
  auto s = Full();
  s.processes.events.clear();
  s.containers.events.clear();
  s.features.events.reset();
  const std::string text = Text(s);
  EXPECT_THAT(text, Not(HasSubstr("_cycles_total")));
  EXPECT_THAT(text, Not(HasSubstr("_instructions_total")));
  EXPECT_THAT(text, Not(HasSubstr("_cache_miss_total")));
}

TEST(Render, IdleBaselines_OnlyByTheirPolicyAndOnceKnown) {
  auto s = Full();
  const std::string text = Text(s);
  EXPECT_THAT(
      SamplesOf(text, "kepler_node_cpu_idle_baseline_info"),
      ElementsAre(
          R"(kepler_node_cpu_idle_baseline_info{confidence="measured",node_name="n1",path="/sys/class/powercap/intel-rapl:0",zone="package"} 1)",
          R"(kepler_node_cpu_idle_baseline_info{confidence="learning",node_name="n1",path="aggregated-dram",zone="dram"} 1)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_node_cpu_idle_baseline_watts"),
      ElementsAre(
          R"(kepler_node_cpu_idle_baseline_watts{node_name="n1",path="/sys/class/powercap/intel-rapl:0",zone="package"} 2.5)"));
  EXPECT_THAT(
      SamplesOf(text, "kepler_node_cpu_idle_baseline_uncertainty_watts"),
      ElementsAre(
          R"(kepler_node_cpu_idle_baseline_uncertainty_watts{node_name="n1",path="/sys/class/powercap/intel-rapl:0",zone="package"} 0.25)"));
  s.idle_baselines.clear();
  EXPECT_THAT(Text(s), Not(HasSubstr("idle_baseline")));
}

TEST(Render, NoKernelSide_NoneOfItsFigures) {
  auto s = Full();
  s.activity.records.clear();
  const std::string text = Text(s);
  for (const char* name : {"records_total", "dropped_total", "lost_seconds", "iterator_seconds", "bpf_run"})
    EXPECT_THAT(text, Not(HasSubstr("kepler_activity_" + std::string(name))));
  EXPECT_THAT(text, HasSubstr("kepler_activity_cpu_time_info{"));
}

TEST(Render, OpenMetrics_SameSamplesOtherHeaders) {
  const auto s = Full();
  const std::string open_metrics = Text(s, Options(), {}, Format::kOpenMetrics100);
  std::vector<std::string> text_samples;
  for (const auto& line : Lines(Text(s)))
    if (line[0] != '#') text_samples.push_back(line);
  std::vector<std::string> samples;
  for (const auto& line : Lines(open_metrics))
    if (line[0] != '#') samples.push_back(line);
  EXPECT_EQ(samples, text_samples);
  EXPECT_THAT(open_metrics, HasSubstr("# HELP kepler_process_cpu_joules Energy consumption of cpu at process level in "
                                      "joules\n# TYPE kepler_process_cpu_joules counter\n"
                                      "# UNIT kepler_process_cpu_joules joules\nkepler_process_cpu_joules_total{"));
  EXPECT_THAT(open_metrics, HasSubstr("# TYPE kepler_build_info gauge\nkepler_build_info{"));
  EXPECT_THAT(open_metrics, ::testing::EndsWith("\n# EOF\n"));
}

TEST(Render, Page_SmallerThanItsText) {
  const auto s = Full();
  const Page page = RenderPage(s, Options(), {}, Format::kText004);
  EXPECT_LT(page.gzip.size(), Text(s).size());
  EXPECT_EQ(WholeText(page), Text(s));
}

TEST(Render, EverySample_LabelsOfItsFamilyInOrder) {
  const status::SelfStatus self{.network_receive_bytes = 1, .network_transmit_bytes = 2};
  const status::HttpStatus http{.certificate_expiry = WallTime()};
  const std::vector<status::PushStatus> pushes(1);
  auto s = Full();
  s.pod_informer.emplace();
  s.cut.emplace();
  s.platform.push_back({.source = "redfish",
                        .sensor = {.bmc_id = "bmc-1",
                                   .chassis_id = "1",
                                   .source_id = "PowerControl/0",
                                   .source_name = "Server",
                                   .source_type = "PowerControl"},
                        .energy = Energy::Joules(5),
                        .power = Power::Watts(300),
                        .fresh = true,
                        .check = status::CounterCheck{},
                        .is_counted = true});
  s.other.emplace();
  s.namespaces = {2, {std::make_shared<const snapshot::OwnerIdentity>("shop")}, {Energy{}, Energy{}}, {BootTime{}}};
  s.owners = {
      2, {std::make_shared<const snapshot::OwnerIdentity>("shop", "Job", "x")}, {Energy{}, Energy{}}, {BootTime{}}};
  s.users = {2, {std::make_shared<const snapshot::UserIdentity>(1000, "alice")}, {Energy{}, Energy{}}, {BootTime{}}};
  auto shared = s;
  shared.zones.back().domain = status::Domain::kIdleCpu;
  shared.idle_payers = snapshot::IdlePayers::kByUse;
  auto whole = s;
  whole.zones.front().domain = status::Domain::kPlatform;
  std::string text = Text(s, Options(), {.self = &self, .http = &http, .pushes = pushes}) + Text(shared) + Text(whole);
  RenderOptions exact = Options();
  exact.selection.state_label = false;
  for (const std::string& line : Lines(Text(s, exact)))
    if (line.contains("_state_info{")) text += line + "\n";
  const auto present = FamiliesIn(text);
  for (const Family& family : Families()) {
    ASSERT_TRUE(present.contains(std::string(family.name))) << family.name;
    for (const auto& sample : SamplesOf(text, family.name)) {
      size_t at = family.name.size();
      for (const std::string_view label : family.labels) {
        const std::string wanted = (label == family.labels.front() ? "{" : ",") + std::string(label) + "=\"";
        at = sample.find(wanted, at);
        ASSERT_NE(at, std::string::npos) << label << " in " << sample;
      }
      EXPECT_EQ(std::ranges::count(sample, '='), std::ssize(family.labels)) << sample;
    }
  }
}

TEST(Render, CreatedLines_OnlyInOpenMetricsDirectlyAfterEachCounter) {
  auto s = Full();
  s.processes.begin = {s.begun - std::chrono::milliseconds(1500), s.begun};
  RenderOptions options = Options();
  const std::string plain = Text(s, options, {}, Format::kOpenMetrics100);
  options.created_lines = true;
  EXPECT_EQ(Text(s, options), Text(s, Options())) << "text 0.0.4 has no such lines";
  std::string without;
  std::string previous;
  for (const auto& line : Lines(Text(s, options, {}, Format::kOpenMetrics100))) {
    const size_t at = line.find("_created{");
    if (at != std::string::npos && line[0] != '#') {
      const std::string sample = line.substr(0, at) + "_total" + line.substr(at + 8, line.rfind(' ') - at - 7);
      EXPECT_TRUE(previous.starts_with(sample)) << previous << "\n" << line;
    } else {
      EXPECT_FALSE(previous.contains("_total{") && !previous.starts_with("#")) << previous;
      without += line + "\n";
    }
    previous = line;
  }
  EXPECT_EQ(without, plain);
  const std::string text = Text(s, options, {}, Format::kOpenMetrics100);
  EXPECT_THAT(text, HasSubstr("\nkepler_process_cpu_seconds_created{comm=\"a\\\"b\",container_id=\"c1\",exe=\"/bin/x\","
                              "node_name=\"n1\",pid=\"42\",type=\"container\",vm_id=\"\"} 1699999998.5\n"));
  options.node_name.clear();
  EXPECT_THAT(Text(s, options, {}, Format::kOpenMetrics100),
              HasSubstr("\nkepler_node_context_switches_total 11\nkepler_node_context_switches_created 1699999940\n"));
}

TEST(Render, Families_SortedByName) {
  std::vector<std::string> names;
  for (const auto& line : Lines(Text(Full())))
    if (line.starts_with("# TYPE ")) names.push_back(line.substr(7, line.find(' ', 7) - 7));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
}

TEST(Render, ExposedSeries_CountsEverySample) {
  for (const bool stale : {false, true}) {
    const status::SelfStatus self;
    const std::string text = Text(Full(), Options(), {.stale = stale, .self = &self});
    const auto lines = Lines(text);
    const auto samples = std::ranges::count_if(lines, [](const auto& line) { return line[0] != '#'; });
    EXPECT_THAT(lines, Contains("kepler_exposed_series{node_name=\"n1\"} " + std::to_string(samples)));
  }
}

TEST(Render, HostileNames_ValidUtf8OneLineEach) {
  auto s = EmptySnapshot({"package"});
  AddRow(s.processes, Process(1, "x\xE6\x97\n\"} 1\\", "\xFF"), {Energy::Joules(1)}, {1.0});
  const std::string text = Text(s);
  EXPECT_TRUE(IsValidUtf8(text));
  EXPECT_THAT(
      SamplesOf(text, "kepler_process_cpu_watts"),
      ElementsAre("kepler_process_cpu_watts{comm=\"x\xEF\xBF\xBD\xEF\xBF\xBD\\n\\\"} 1\\\\\",container_id=\"\","
                  "exe=\"\xEF\xBF\xBD\",node_name=\"n1\",pid=\"1\",state=\"running\",type=\"regular\",vm_id=\"\","
                  "zone=\"package\"} 1"));
}

TEST(Render, ManyRows_SeveralPiecesWithAllOfThem) {
  const auto s = kepler::testing::BusySnapshot({"package", "dram"}, 500);
  const Page page = RenderPage(s, Options(), {}, Format::kText004);
  EXPECT_GT(page.pieces.size(), 3u);
  for (const Page::Piece& piece : page.pieces) EXPECT_LE(piece.text_bytes, 128u * 1024);
  EXPECT_EQ(SamplesOf(WholeText(page), "kepler_process_cpu_watts").size(), 1000u);
}

TEST(Render, CommaLocale_SameText) {
  const auto s = Full();
  const std::string expected = Text(s);
  // Where the machine has no such locale the comparison is trivially true.
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  EXPECT_EQ(Text(s), expected);
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace kepler::prometheus
