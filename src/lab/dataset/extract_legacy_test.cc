#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lab/dataset/extract.h"
#include "lab/dataset/extract_test_util.h"

namespace kepler::lab::dataset {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

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
}  // namespace kepler::lab::dataset
