#include "lab/dataset/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lab/dataset/extract_test_util.h"

namespace kepler::lab::dataset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

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

TEST(Extract, Gauges_AreAsTheyAreAtTheEnd_AndMayFall) {
  Recording recording = Steady();
  recording.metrics["kepler_node_cpu_steal_seconds_total"] = {Every5s(Node("a"), 13, Line(3, 0.25))};
  recording.metrics["kepler_node_page_faults_total"] = {Every5s(Node("a"), 13, Line(9, 70))};
  recording.metrics["kepler_node_memory_used_bytes"] = {Every5s(Node("a"), 13, Line(5000, -10))};
  recording.metrics["kepler_node_cpus"] = {Every5s(Node("a"), 13, Line(2, 0))};
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.rows, SizeIs(11));
  ExpectAll(out, "cpu_steal_ms", 250);
  ExpectAll(out, "page_faults", 70);
  ExpectAll(out, "cores", 2);
  EXPECT_DOUBLE_EQ(ColumnOf(out, "memory_used_bytes").front(), 5000 - 100);
}

TEST(Extract, RecordedMetrics_AreNotSaidToBeMissing) {
  Recording recording = Steady();
  recording.metrics["kepler_node_cpu_cycles_total"] = {Every5s(Node("a"), 1, Line(0, 3e9))};
  EXPECT_THAT(Extract(recording).notes,
              Contains("no column cpu_cycles: kepler_node_cpu_cycles_total has no value in any row"));
  recording.metrics[kEnergy][0] = Every5s(Zone("a", "package"), 13, Line(5000, -40));
  EXPECT_EQ(ErrorOf(recording),
            "no usable interval: 11 with a decreasing counter, 0 too long, 0 with a missing counter");
}

TEST(Extract, Estimates_AreNoLabels) {
  Recording recording = Steady();
  recording.metrics[kEnergy][0].labels = Zone("a", "package", "model");
  EXPECT_THAT(ErrorOf(recording), HasSubstr("all energy is estimated by a model"));
  EXPECT_THAT(Extract(recording, {.allow_estimates = true}).rows, SizeIs(11));
  recording.metrics[kEnergy].push_back(Every5s(Zone("a", "dram"), 13, Line(0, 3)));
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.columns, ElementsAre("bpf_cpu_time_ms", "dram_power"));
  EXPECT_THAT(out.notes, Contains(HasSubstr("ignored package_power of a: it is an estimate")));
}

TEST(Extract, EnergyOfTheFakeMeter_IsNoted) {
  Recording recording = Steady();
  const auto is_noted =
      ::testing::Contains(HasSubstr("package_power of a is simulated by the fake meter: do not use a model"));
  Labels meter = Zone("a", "package");
  meter.emplace_back("source", "rapl");
  recording.metrics["kepler_node_energy_source_info"] = {Every5s(meter, 13, Line(1, 0))};
  EXPECT_THAT(Extract(recording).notes, ::testing::Not(is_noted));
  meter.back().second = "fake";
  recording.metrics["kepler_node_energy_source_info"] = {Every5s(meter, 13, Line(1, 0))};
  const Extraction out = Extract(recording);
  EXPECT_THAT(out.notes, is_noted);
  EXPECT_THAT(out.rows, SizeIs(11)) << "demonstrations train on it";
}

TEST(Extract, NothingToSay_IsAnError) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("no energy: kepler_node_cpu_joules_total"));
  Recording recording = Steady();
  recording.metrics.erase(kCpu);
  EXPECT_THAT(ErrorOf(std::move(recording)), HasSubstr("no features: kepler_node_cpu_seconds_total"));
  recording = Steady();
  EXPECT_THAT(ErrorOf(recording, {.zones = {"dram"}}), HasSubstr("no energy of the selected zones"));
  for (Sample& sample : recording.metrics[kEnergy][0].samples) sample.value = 7;
  EXPECT_THAT(ErrorOf(std::move(recording)), HasSubstr("no energy of a changes"));
}

}  // namespace
}  // namespace kepler::lab::dataset
