// A page with one row at every level, and helpers that read values from its text.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "export/prometheus/render_page.h"
#include "testing/snapshot_builder.h"

namespace kepler::prometheus {

using namespace series;

inline RenderOptions Options(uint32_t levels = kAllLevels) {
  return {
      .node_name = "n1",
      .selection = {
          .levels = levels,
          .build = {.version = "0.1.0", .revision = "abc", .branch = "main", .compiler = "g++ 12", .arch = "amd64"}}};
}

inline RenderOptions WithNames(NameSet names) {
  RenderOptions options = Options();
  options.selection.names = names;
  options.selection.node_name = options.node_name;
  return options;
}

inline std::string WholeText(const Page& page) {
  std::string text;
  for (size_t piece = 0; piece < page.pieces.size(); ++piece) text += page.TextOf(piece);
  return text;
}

inline std::string Text(const snapshot::Snapshot& s, const RenderOptions& options = Options(),
                        const Extras& extras = {}, Format format = Format::kText004) {
  return WholeText(RenderPage(s, options, extras, format));
}

/// One row at every level, two zones, the second one not read in the last tick.
inline snapshot::Snapshot Full() {
  auto s = testing::EmptySnapshot({"package", "dram"});
  s.zones[0].path = "/sys/class/powercap/intel-rapl:0";
  s.zones[0].source = "rapl";
  s.node[0] = {Energy::Microjoules(30'500'000),
               Energy::Microjoules(20'250'001),
               Energy::Microjoules(10'249'999),
               Power::Watts(6.1),
               Power::Watts(4.05),
               Power::Watts(2.05),
               true};
  s.node[1].fresh = false;
  s.usage_ratio = Ratio::Clamped(0.25);
  testing::AddRow(s.processes, testing::Process(42, "a\"b", "/bin/x", "c1"), {Energy::Microjoules(1'000'001)}, {0.5},
                  std::chrono::milliseconds(1500));
  testing::AddRow(s.processes, testing::Process(43, "old"), {Energy::Joules(2)}, {}, std::chrono::seconds(1),
                  snapshot::State::kTerminated);
  testing::AddRow(s.containers, snapshot::ContainerIdentity{"c1", "web", "docker", "p1"}, {Energy::Joules(3)}, {1.25},
                  std::chrono::seconds(4));
  testing::AddRow(s.vms, snapshot::VmIdentity{"v1", "guest", "kvm"}, {Energy::Joules(4)}, {2});
  testing::AddRow(s.pods, snapshot::PodIdentity{"p1", "shop", "default"}, {Energy::Joules(5)}, {3});
  s.processes.events = {{1000, 2000, 30}, {1, 2, 3}};
  s.containers.events = {{4000, 5000, 60}};
  s.methods = {snapshot::Method::kCyclesInstructionsMix, snapshot::Method::kCacheMisses};
  s.ratio_method = snapshot::RatioMethod::kExact;
  s.exact_ratio = Ratio::Clamped(0.25);
  s.proc_stat_ratio = Ratio::Clamped(0.5);
  s.idle_baselines = {{snapshot::Confidence::kMeasured, Power::Watts(2.5), Power::Watts(0.25)}, {}};
  s.unattributed[0] = Energy::Joules(6);
  s.unattributed_cpu = std::chrono::milliseconds(10);
  s.unlisted[0][1][0] = Energy::Joules(7);
  s.sources.push_back({.name = "rapl",
                       .interface = "powercap",
                       .up = true,
                       .last_success = s.taken_at,
                       .rejected_readings = 1,
                       .rejected_energy = Energy::Joules(8),
                       .resets = 2,
                       .failed_reads = 3,
                       .unknown_wraps = 5,
                       .restart_needed = true});
  s.domains = {{2, 1}, {3, 3}};
  s.features = {.cpu = std::chrono::seconds(7),
                .steal = std::chrono::seconds(3),
                .cpus = 2,
                .softirqs = status::NodeSoftirqs{.block = 1, .net_rx = 2, .net_tx = 3},
                .context_switches = 11,
                .page_faults = 12,
                .used_memory = 4096,
                .events = HardwareEvents{5000, 7000, 90}};
  const std::vector<status::ZoneModel> models = {{.zone = "dram",
                                                  .name = "mine",
                                                  .trainer = "linear",
                                                  .features = "BPFOnly",
                                                  .machine = "amd_epyc_7r13",
                                                  .source = "/m/model.json",
                                                  .match = "same_processor",
                                                  .mae_watts = "1.5",
                                                  .mape = "4.25",
                                                  .basis = "other_machines",
                                                  .error_watts = 1.5,
                                                  .error_ratio = 0.0425,
                                                  .only_load = true}};
  s.estimates = {{.models = std::make_shared<const std::vector<status::ZoneModel>>(models),
                  .predictions = 3,
                  .prediction_time = std::chrono::microseconds(20),
                  .extrapolated = 1,
                  .clamped = 0},
                 {.models = std::make_shared<const std::vector<status::ZoneModel>>(models),
                  .of_workloads = true,
                  .predictions = 2}};
  s.model_store = {
      .refreshes = 4, .failed_refreshes = 1, .models = 2, .last_fetch = s.taken_at, .last_success = s.taken_at};
  s.activity.vanished = 4;
  s.activity.time = {.interrupts = KeptApart::kYes, .steal = KeptApart::kNo};
  s.activity.records = {{"task", 100, 2, false}, {"exec", 50, 0, false}, {"unreported", 0, 7, true}};
  s.begun = BootTime(std::chrono::seconds(60));
  s.activity.audit = {.comparisons = 12, .charged = std::chrono::milliseconds(6), .worst_ratio = 0.25, .last = s.begun};
  s.activity.lost = std::chrono::milliseconds(1);
  s.activity.iterator_time = std::chrono::milliseconds(2);
  s.activity.program_time = std::chrono::milliseconds(3);
  s.activity.program_runs = 4;
  s.pipeline = {.ticks = 10,
                .missed_ticks = 1,
                .failed_ticks = 2,
                .unpublished = 3,
                .tick_time = std::chrono::milliseconds(50),
                .tick_cpu = std::chrono::milliseconds(40),
                .skew = std::chrono::microseconds(12)};
  s.cpus = std::make_shared<const std::vector<CpuInfo>>(
      std::vector<CpuInfo>{{"0", "GenuineIntel", "Xeon(R) \xFF", "0", "0", "", ""}});
  return s;
}

inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  Splitter rest(text, '\n');
  while (const auto line = rest.Next())
    if (!line->empty()) lines.emplace_back(*line);
  return lines;
}

/// The lines of one family, by its sample name.
inline std::vector<std::string> SamplesOf(const std::string& text, std::string_view name) {
  std::vector<std::string> found;
  for (const auto& line : Lines(text))
    if (line.starts_with(std::string(name) + "{") || line.starts_with(std::string(name) + " ")) found.push_back(line);
  return found;
}

inline std::set<std::string> FamiliesIn(const std::string& text) {
  std::set<std::string> names;
  for (const auto& line : Lines(text))
    if (line[0] != '#') names.insert(line.substr(0, line.find_first_of("{ ")));
  return names;
}

}  // namespace kepler::prometheus
