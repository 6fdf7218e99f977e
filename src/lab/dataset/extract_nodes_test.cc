#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lab/dataset/extract.h"
#include "lab/dataset/extract_test_util.h"

namespace kepler::lab::dataset {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

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
  EXPECT_THAT(ErrorOf(std::move(recording), {.nodes = {"d"}}), HasSubstr("no node \"d\"; available: a, b, c"));
}

TEST(Extract, NodeWithoutAColumn_HasEmptyCells) {
  Recording recording = Steady();
  recording.metrics[kCpu].push_back(Every5s(Node("b"), 13, Line(0, 1)));
  recording.metrics[kEnergy].push_back(Every5s(Zone("b", "package"), 13, Line(0, 25)));
  recording.metrics[kEnergy].push_back(Every5s(Zone("b", "dram"), 13, Line(0, 5)));
  const Extraction out = Extract(std::move(recording));
  EXPECT_THAT(out.notes, Contains("a has no dram_power, so its cells are empty"));
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

TEST(Extract, NodeWithoutFeatures_IsNoted) {
  Recording recording = Steady();
  recording.metrics[kEnergy].push_back(Every5s(Zone("b", "package"), 13, Line(0, 25)));
  EXPECT_THAT(Extract(std::move(recording)).notes, Contains("b has no features, so it has no rows"));
}

}  // namespace
}  // namespace kepler::lab::dataset
