#include "dataset/extract.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::dataset {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kCpu[] = "kepler_node_cpu_seconds_total";
constexpr char kEnergy[] = "kepler_node_cpu_joules_total";

/// Every 5 s from 1000 on, `count` samples of what `value` says for the seconds since then.
Series Every5s(Labels labels, size_t count, const std::function<double(double)>& value) {
  Series series{.labels = std::move(labels)};
  std::ranges::sort(series.labels);
  for (size_t i = 0; i < count; ++i) {
    const double seconds = 5.0 * static_cast<double>(i);
    series.samples.push_back({1000 + seconds, value(seconds)});
  }
  return series;
}
std::function<double(double)> Line(double start, double rate) {
  return [=](double seconds) { return start + rate * seconds; };
}
Labels Node(std::string name) { return {{"job", "k"}, {"node_name", std::move(name)}}; }
Labels Zone(std::string name, std::string zone, std::string path = "intel-rapl:0") {
  return {{"job", "k"}, {"node_name", std::move(name)}, {"path", std::move(path)}, {"zone", std::move(zone)}};
}
/// 40 W at two busy CPUs for a minute.
Recording Steady() {
  Recording recording;
  recording.metrics[kCpu] = {Every5s(Node("a"), 13, Line(500, 2))};
  recording.metrics[kEnergy] = {Every5s(Zone("a", "package"), 13, Line(1e6, 40))};
  return recording;
}
Extraction Extract(Recording recording, const ExtractOptions& options = {}) {
  auto extraction = ExtractRows(std::move(recording), options);
  EXPECT_TRUE(extraction) << extraction.error().message;
  return extraction ? *std::move(extraction) : Extraction();
}
std::string ErrorOf(Recording recording, const ExtractOptions& options = {}) {
  const auto extraction = ExtractRows(std::move(recording), options);
  return extraction ? "no error" : extraction.error().message;
}
std::vector<double> ColumnOf(const Extraction& extraction, std::string_view name) {
  const auto column = std::ranges::find(extraction.columns, name) - extraction.columns.begin();
  std::vector<double> values;
  for (const Row& row : extraction.rows) values.push_back(row.values.at(static_cast<size_t>(column)));
  return values;
}
void ExpectAll(const Extraction& extraction, std::string_view column, double value) {
  for (const double found : ColumnOf(extraction, column)) EXPECT_NEAR(found, value, 1e-6) << column;
}

TEST(Extract, Counters_BecomeRates) {
  const Extraction out = Extract(Steady());
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "package_power"));
  EXPECT_THAT(out.rows, SizeIs(11));  // the first change begins the first row
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
  ExpectAll(out, "package_power", 40);
  EXPECT_EQ(out.rows.front().end, 1010);
  EXPECT_THAT(out.notes, Contains("no column cpu_cycles: no kepler_node_cpu_cycles_total"));
}

TEST(Extract, EveryFeatureAndZone_HasItsColumn) {
  Recording recording = Steady();
  recording.metrics["kepler_node_cpu_cycles_total"] = {Every5s(Node("a"), 13, Line(0, 3e9))};
  recording.metrics["kepler_node_cpu_instructions_total"] = {Every5s(Node("a"), 13, Line(0, 4e9))};
  recording.metrics["kepler_node_cache_miss_total"] = {Every5s(Node("a"), 13, Line(0, 5e6))};
  for (const std::string type : {"block", "net_rx", "net_tx", "timer"}) {
    Labels labels = Node("a");
    labels.emplace_back("type", type);
    recording.metrics["kepler_node_softirqs_total"].push_back(Every5s(labels, 13, Line(0, 7)));
  }
  recording.metrics[kEnergy].push_back(Every5s(Zone("a", "dram"), 13, Line(0, 3)));
  recording.metrics["kepler_node_platform_joules_total"] = {Every5s(Node("a"), 13, Line(0, 90))};
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.columns,
              ElementsAre("bpf_block_irq", "bpf_cpu_time_ms", "bpf_net_rx_irq", "bpf_net_tx_irq", "cache_miss",
                          "cpu_cycles", "cpu_instructions", "dram_power", "package_power", "platform_power"));
  ExpectAll(out, "bpf_net_tx_irq", 7);
  ExpectAll(out, "cpu_cycles", 3e9);
  ExpectAll(out, "platform_power", 90);
  EXPECT_TRUE(out.notes.empty());
}

TEST(Extract, ScrapedLessOftenThanAsked_HasNoZerosAndSpikes) {
  const auto slow = [](double start, double rate) {
    return [=](double seconds) { return start + rate * 15 * std::floor(seconds / 15); };
  };
  Recording recording;
  recording.metrics[kCpu] = {Every5s(Node("a"), 60, slow(500, 2))};
  recording.metrics[kEnergy] = {Every5s(Zone("a", "package"), 60, slow(0, 40))};
  const Extraction out = Extract(std::move(recording));
  EXPECT_GT(out.rows.size(), 15U);
  for (const Row& row : out.rows) EXPECT_NEAR(row.end - row.begin, 15, 1e-6);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, TimeOfTheSnapshot_IsThatOfItsFigures) {
  Recording recording;
  Series clock{.labels = Node("a")}, cpu{.labels = Node("a")}, energy{.labels = Zone("a", "package")};
  for (int i = 0; i < 20; ++i) {
    const double scraped = 1000 + 5 * i, taken = scraped - 0.1 * (i % 5);
    clock.samples.push_back({scraped, taken});
    cpu.samples.push_back({scraped, 2 * taken});
    energy.samples.push_back({scraped, 40 * taken});
    for (Series* const series : {&clock, &cpu, &energy}) series->samples.push_back(series->samples.back());
    for (Series* const series : {&clock, &cpu, &energy}) series->samples.back().time += 2.5;  // the same page again
  }
  recording.metrics["kepler_snapshot_timestamp_seconds"] = {clock};
  recording.metrics[kCpu] = {cpu};
  recording.metrics[kEnergy] = {energy};
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(18));
  EXPECT_EQ(out.dropped.duplicates, 40U);  // of two series
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, SlowestEnergy_SaysWhenRowsEnd) {
  Recording recording = Steady();
  const auto every_10s = [](double seconds) { return 900 * std::floor(seconds / 10); };
  recording.metrics["kepler_node_platform_joules_total"] = {Every5s(Node("a"), 13, every_10s)};
  const Extraction out = Extract(recording);
  EXPECT_THAT(out.rows, SizeIs(5));
  ExpectAll(out, "platform_power", 90);
  ExpectAll(out, "package_power", 40);
  EXPECT_THAT(out.notes, Contains(HasSubstr("rows of a are 10 s long, as platform_power moves that often")));
  EXPECT_THAT(Extract(std::move(recording), {.zones = {"package"}}).rows, SizeIs(11));
}

TEST(Extract, EnergyThatHardlyMoves_IsLeftOut) {
  Recording recording;
  recording.metrics[kCpu] = {Every5s(Node("a"), 721, Line(500, 2))};
  recording.metrics[kEnergy] = {
      Every5s(Zone("a", "package"), 721, Line(1e6, 40)),
      Every5s(Zone("a", "uncore"), 721, [](double seconds) { return std::floor(seconds / 1500); })};
  const Extraction out = Extract(recording);
  EXPECT_THAT(out.rows, SizeIs(719));
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "package_power"));
  EXPECT_THAT(out.notes, Contains("uncore_power of a moves 2 times, another energy 720 times: it is left out (--zones "
                                  "takes it)"));
  const Extraction asked = Extract(std::move(recording), {.zones = {"package", "uncore"}});
  EXPECT_THAT(asked.rows, SizeIs(1));
  EXPECT_THAT(asked.columns, Contains("uncore_power"));
}

TEST(Extract, AgentThatIsReplaced_CountsOnceWhereBothSpeak) {
  Recording recording;
  const auto add = [&](const std::string& metric, const Labels& labels, double rate) {
    Labels first = labels, second = labels;
    first.emplace_back("pod", "kepler-a");
    second.emplace_back("pod", "kepler-b");
    Series before = Every5s(first, 201, Line(700, rate)), after = Every5s(second, 203, Line(0, rate));
    for (Sample& sample : after.samples) sample.time += 990;
    recording.metrics[metric].push_back(before);
    recording.metrics[metric].push_back(after);
  };
  add(kCpu, Node("a"), 2);
  add(kEnergy, Zone("a", "package", "intel-rapl:0"), 25);
  add(kEnergy, Zone("a", "package", "intel-rapl:1"), 15);
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(399));
  EXPECT_EQ(out.dropped.incomplete, 0U);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, CounterThatFell_CostsItsInterval) {
  Recording recording = Steady();
  for (auto& [metric, all] : recording.metrics)
    for (Sample& sample : all[0].samples)
      if (sample.time >= 1030) sample.value -= all[0].samples[0].value;  // starts anew
  const Extraction out = Extract(recording);
  EXPECT_EQ(out.dropped.resets, 1U);
  EXPECT_THAT(out.rows, SizeIs(10));
  ExpectAll(out, "package_power", 40);

  Recording alone = Steady();  // a feature that counts anew
  for (Sample& sample : alone.metrics[kCpu][0].samples)
    if (sample.time >= 1030) sample.value -= 550;
  EXPECT_EQ(Extract(std::move(alone)).dropped.resets, 1U);
}

TEST(Extract, Gap_IsNoRow) {
  Recording recording = Steady();
  for (auto& [metric, all] : recording.metrics)
    std::erase_if(all[0].samples, [](const Sample& sample) { return sample.time > 1015 && sample.time < 1045; });
  const Extraction out = Extract(std::move(recording));
  EXPECT_EQ(out.dropped.gaps, 1U);
  ExpectAll(out, "package_power", 40);
}

TEST(Extract, FeatureThatIsMissingForAWhile_CostsThoseRows) {
  Recording recording = Steady();
  std::erase_if(recording.metrics[kCpu][0].samples,
                [](const Sample& sample) { return sample.time > 1015 && sample.time < 1035; });
  const Extraction out = Extract(recording, {.max_gap = 2});
  EXPECT_EQ(out.dropped.incomplete, 4U);
  EXPECT_THAT(out.rows, SizeIs(7));
  recording.metrics[kCpu][0].samples.resize(3);
  EXPECT_THAT(ErrorOf(std::move(recording)), HasSubstr("bpf_cpu_time_ms of a is there in 1 of 11 intervals only"));
}

TEST(Extract, FeatureThatCameLate_IsLeftOut) {
  Recording recording = Steady();
  recording.metrics["kepler_node_cpu_cycles_total"] = {Every5s(Node("a"), 13, Line(0, 3e9))};
  auto& samples = recording.metrics["kepler_node_cpu_cycles_total"][0].samples;
  samples.erase(samples.begin(), samples.begin() + 10);
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "package_power"));
  EXPECT_THAT(out.rows, SizeIs(11));
  EXPECT_THAT(out.notes, Contains(HasSubstr("cpu_cycles of a is there in 2 of 11 intervals only")));
}

TEST(Extract, UnevenTimes_StillGiveRates) {
  Recording recording;
  Series cpu{.labels = Node("a")}, energy{.labels = Zone("a", "package")};
  double time = 1000;
  for (int i = 0; i < 20; ++i) {
    time += 3 + i % 4;
    energy.samples.push_back({time, 40 * time});
    cpu.samples.push_back({time - 1.3, 2 * (time - 1.3)});  // of a scrape of its own
  }
  recording.metrics[kCpu] = {cpu};
  recording.metrics[kEnergy] = {energy};
  const Extraction out = Extract(std::move(recording));
  EXPECT_GT(out.rows.size(), 15U);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "bpf_cpu_time_ms", 2000);
}

TEST(Extract, ShuffledAndRepeatedSamples_AreSorted) {
  Recording recording = Steady();
  auto& samples = recording.metrics[kEnergy][0].samples;
  std::ranges::reverse(samples);
  samples.push_back(samples.front());
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(11));
  EXPECT_EQ(out.dropped.duplicates, 1U);
  ExpectAll(out, "package_power", 40);
  EXPECT_THAT(out.notes, Contains(HasSubstr("1 series were not in the order of time")));
}

TEST(Extract, Nodes_StandInTheirColumn) {
  Recording recording = Steady();
  recording.metrics[kCpu].push_back(Every5s(Node("b, c"), 13, Line(0, 1)));
  recording.metrics[kEnergy].push_back(Every5s(Zone("b, c", "package"), 13, Line(0, 25)));
  const Extraction out = Extract(recording);
  EXPECT_THAT(out.nodes, ElementsAre("a", "b, c"));
  EXPECT_THAT(out.rows, SizeIs(22));
  const std::string table = WriteTable(out);
  EXPECT_THAT(table,
              HasSubstr("timestamp,node,bpf_cpu_time_ms,package_power\n1010,a,2000,40\n1010,\"b, c\",1000,25\n"));
  EXPECT_THAT(Extract(recording, {.nodes = {"b, c"}}).nodes, ElementsAre("b, c"));
  EXPECT_THAT(ErrorOf(std::move(recording), {.nodes = {"d"}}), HasSubstr("no node \"d\"; there are: a, b, c"));
}

TEST(Extract, NodeWithoutAColumn_HasEmptyCells) {
  Recording recording = Steady();
  recording.metrics[kCpu].push_back(Every5s(Node("b"), 13, Line(0, 1)));
  recording.metrics[kEnergy].push_back(Every5s(Zone("b", "package"), 13, Line(0, 25)));
  recording.metrics[kEnergy].push_back(Every5s(Zone("b", "dram"), 13, Line(0, 5)));
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.notes, Contains("a has no dram_power: its cells are empty"));
  EXPECT_THAT(WriteTable(out), HasSubstr("1010,a,2000,,40\n1010,b,1000,5,25\n"));
}

TEST(Extract, NodeScrapedTwice_CountsOnce) {
  Recording recording = Steady();
  for (auto& [metric, all] : recording.metrics) {
    Series again = all[0];
    for (auto& [name, value] : again.labels)
      if (name == "job") value = "another";
    again.samples.resize(9);
    all.push_back(again);
  }
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(11));
  EXPECT_EQ(out.dropped.overlaps, 7U);
  ExpectAll(out, "package_power", 40);
}

TEST(Extract, Estimates_AreNoLabels) {
  Recording recording = Steady();
  recording.metrics[kEnergy][0].labels = Zone("a", "package", "model");
  EXPECT_THAT(ErrorOf(recording), HasSubstr("all energy is an estimate of a model"));
  EXPECT_THAT(Extract(recording, {.allow_estimates = true}).rows, SizeIs(11));
  recording.metrics[kEnergy].push_back(Every5s(Zone("a", "dram"), 13, Line(0, 3)));
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "dram_power"));
  EXPECT_THAT(out.notes, Contains(HasSubstr("package_power of a is an estimate")));
}

TEST(Extract, ClockOfTheAgentThatTookOver_CountsToo) {
  Recording recording;
  Series cpu{.labels = Node("a")}, energy{.labels = Zone("a", "package")};
  Series clocks[] = {{.labels = Node("a")}, {.labels = Node("a")}};
  clocks[0].labels.emplace_back("pod", "kepler-a");
  clocks[1].labels.emplace_back("pod", "kepler-b");
  for (int i = 0; i < 20; ++i) {
    const double scraped = 1000 + 5 * i, taken = scraped - 0.1 * (i % 5);
    clocks[i / 10].samples.push_back({scraped, taken});
    cpu.samples.push_back({scraped, 2 * taken});
    energy.samples.push_back({scraped, 40 * taken});
  }
  recording.metrics["kepler_snapshot_timestamp_seconds"] = {clocks[0], clocks[1]};
  recording.metrics[kCpu] = {cpu};
  recording.metrics[kEnergy] = {energy};
  ExpectAll(Extract(std::move(recording)), "package_power", 40);
}

TEST(Extract, NodeWithoutFeatures_IsTold) {
  Recording recording = Steady();
  recording.metrics[kEnergy].push_back(Every5s(Zone("b", "package"), 13, Line(0, 25)));
  EXPECT_THAT(Extract(std::move(recording)).notes, Contains("b has no features: it has no rows"));
}

TEST(Extract, NothingToSay_IsAnError) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("no energy: none of kepler_node_cpu_joules_total"));
  Recording recording = Steady();
  recording.metrics.erase(kCpu);
  EXPECT_THAT(ErrorOf(std::move(recording)), HasSubstr("no features: none of kepler_node_cpu_seconds_total"));
  recording = Steady();
  EXPECT_THAT(ErrorOf(recording, {.zones = {"dram"}}), HasSubstr("no energy of the zones"));
  for (Sample& sample : recording.metrics[kEnergy][0].samples) sample.value = 7;
  EXPECT_THAT(ErrorOf(std::move(recording)), HasSubstr("no energy of a ever moves"));
}

Labels Container(std::string id) { return {{"container_id", std::move(id)}, {"instance", "n1"}, {"job", "k"}}; }
Labels LegacyZone(std::string source, std::string package, std::string mode) {
  return {{"instance", "n1"},
          {"job", "k"},
          {"mode", std::move(mode)},
          {"package", std::move(package)},
          {"source", std::move(source)}};
}
Recording Legacy() {
  Recording recording;
  auto& containers = recording.metrics["kepler_container_bpf_cpu_time_ms_total"];
  containers = {Every5s(Container("x"), 13, Line(100, 300)), Every5s(Container("y"), 13, Line(0, 200))};
  for (const std::string package : {"0", "1"})
    for (const std::string mode : {"idle", "dynamic"})
      recording.metrics["kepler_node_package_joules_total"].push_back(
          Every5s(LegacyZone("rapl-sysfs", package, mode), 13, Line(0, 10)));
  return recording;
}

TEST(ExtractLegacy, ContainersPackagesAndModes_AreSummed) {
  const Extraction out = Extract(Legacy());
  EXPECT_EQ(out.names, MetricNames::kLegacy);
  EXPECT_THAT(out.nodes, ElementsAre("n1"));
  ExpectAll(out, "bpf_cpu_time_ms", 500);
  ExpectAll(out, "package_power", 40);
}

TEST(ExtractLegacy, ContainerThatComesAndGoes_CountsFromZero) {
  Recording recording = Legacy();
  Series late = Every5s(Container("z"), 13, Line(0, 0));
  late.samples = {{1020, 50}, {1025, 100}, {1030, 150}};
  recording.metrics["kepler_container_bpf_cpu_time_ms_total"].push_back(late);
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(11));
  EXPECT_THAT(ColumnOf(out, "bpf_cpu_time_ms"), ElementsAre(500, 500, DoubleNear(510, 1e-9), DoubleNear(510, 1e-9),
                                                            DoubleNear(510, 1e-9), 500, 500, 500, 500, 500, 500));
}

TEST(ExtractLegacy, ContainerThatHasOtherLabelsNow_BreaksItsInterval) {
  Recording recording = Legacy();
  Series renamed = Every5s(Container("z"), 6, Line(5e6, 100));
  for (Sample& sample : renamed.samples) sample.time += 30;
  recording.metrics["kepler_container_bpf_cpu_time_ms_total"].push_back(renamed);
  const Extraction out = Extract(std::move(recording));
  EXPECT_EQ(out.dropped.incomplete, 1U);
  EXPECT_THAT(out.rows, SizeIs(10));
  for (const double rate : ColumnOf(out, "bpf_cpu_time_ms")) EXPECT_LE(rate, 600 + 1e-6);
}

TEST(ExtractLegacy, PackageThatIsMissing_CostsItsRows) {
  Recording recording = Legacy();
  recording.metrics["kepler_node_package_joules_total"][3].samples.resize(8);
  const Extraction out = Extract(std::move(recording));
  ExpectAll(out, "package_power", 40);
  EXPECT_EQ(out.dropped.incomplete, 5U);
}

TEST(ExtractLegacy, BestSourceCounts) {
  Recording recording = Legacy();
  auto& package = recording.metrics["kepler_node_package_joules_total"];
  package.push_back(Every5s(LegacyZone("rapl-msr", "0", "dynamic"), 13, Line(0, 999)));
  package.push_back(Every5s(LegacyZone("trained_power_model", "0", "dynamic"), 13, Line(0, 777)));
  recording.metrics["kepler_node_platform_joules_total"] = {
      Every5s(LegacyZone("acpi", "0", "dynamic"), 13, Line(0, 88))};
  const Extraction out = Extract(recording);
  ExpectAll(out, "package_power", 40);
  ExpectAll(out, "platform_power", 88);
  ExpectAll(Extract(std::move(recording), {.source = "rapl-msr"}), "package_power", 999);
}

}  // namespace
}  // namespace kepler::dataset
