#include "lab/judging/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "testing/fake_tree.h"

namespace kepler::lab::judging {
namespace {

using model::Per;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::vector<std::string>;

DataFile TableOf(std::string text) {
  auto table = training::Table::ReadCsv(std::move(text));
  EXPECT_TRUE(table) << table.error().message;
  return {.path = "node.csv", .sha256 = {}, .table = table ? *std::move(table) : training::Table()};
}

Machines Fleet() {
  return {.by_name = {{"a", {.processor = "x", .cores = 4, .memory_gib = 16}},
                      {"b", {.processor = "x", .cores = 8, .memory_gib = 16}}},
          .column = {},
          .path = "fleet.json"};
}

template <class T>
std::string WhyNot(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(ReadInputs, AttributesOfTheMachine_FillTheRows) {
  const auto got =
      ReadInputs(TableOf("node,cpu_cycles\na,1\nb,2\na,3\n"), Names{"cpu_cycles", "cores"}, Per::kMachine, Fleet());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->features.values, ElementsAre(1, 4, 2, 8, 3, 4));
  EXPECT_THAT(got->cores, IsEmpty());
  const Machines one{.by_name = {{"", {.cores = 2}}}, .column = {}, .path = "m.json"};
  EXPECT_THAT(ReadInputs(TableOf("cpu_cycles\n1\n2\n"), Names{"cores"}, Per::kCore, one)->cores, ElementsAre(2, 2));
}

TEST(ReadInputs, Columns_StandInTheOrderThatIsAskedFor) {
  const auto got = ReadInputs(TableOf("a,b,c\n1,2,3\n4,5,6\n"), Names{"c", "a"}, Per::kMachine, {});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->features.columns, 2u);
  EXPECT_THAT(got->features.values, ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(WhyNot(ReadInputs(TableOf("a,b\n1,\n"), Names{"a", "b"}, Per::kMachine, {})), HasSubstr("line 2"));
}

TEST(ReadInputs, ColumnOfTheTable_CountsFirst) {
  const auto got = ReadInputs(TableOf("node,cores,cpu_cycles\na,16,1\n"), Names{"cores"}, Per::kCore, Fleet());
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->features.values, ElementsAre(16));
  EXPECT_THAT(got->cores, ElementsAre(16));
}

TEST(ReadInputs, GivenColumn_NamesTheMachines) {
  Machines fleet = Fleet();
  fleet.column = "host";
  EXPECT_THAT(ReadInputs(TableOf("host,x\nb,1\n"), Names{"cores"}, Per::kMachine, fleet)->features.values,
              ElementsAre(8));
}

TEST(ReadInputs, WhatIsMissing_IsSaid) {
  const auto why = [](std::string text, const Names& features, Per per, const Machines& machines) {
    return WhyNot(ReadInputs(TableOf(std::move(text)), features, per, machines));
  };
  EXPECT_THAT(why("x\n1\n", {"cores"}, Per::kMachine, {}),
              HasSubstr("node.csv: no column 'cores' with this attribute of the machine; add it, or set --machine"));
  EXPECT_THAT(why("x\n1\n", {"x"}, Per::kCore, {}), HasSubstr("no column 'cores'"));
  EXPECT_THAT(why("x\n1\n", {"y"}, Per::kMachine, Fleet()), HasSubstr("no column 'y'"));
  EXPECT_THAT(why("x\n1\n", {"cores"}, Per::kMachine, Fleet()), HasSubstr("fleet.json describes several machines"));
  EXPECT_THAT(why("node\nc\n", {"cores"}, Per::kMachine, Fleet()),
              HasSubstr("fleet.json: no machine 'c' of column 'node', line 2 of node.csv; add it"));
  EXPECT_THAT(why("node\na\n", {"chips"}, Per::kMachine, Fleet()),
              HasSubstr("fleet.json: a machine without \"chips\""));
  EXPECT_THAT(why("cores,x\n4,1\n0,1\n", {"x"}, Per::kCore, {}),
              HasSubstr("line 3, column 'cores': 0 is not a number"));
}

TEST(CommonMachine, KeepsWhatIsEqualInAllRows) {
  EXPECT_EQ(**CommonMachine(TableOf("node\na\nb\n"), Fleet()),
            (model::MachineSpec{.processor = "x", .memory_gib = 16}));
  EXPECT_EQ((*CommonMachine(TableOf("node\nb\n"), Fleet()))->cores, 8u);
  Machines others = Fleet();
  others.by_name["b"].processor = "y";
  EXPECT_EQ(*CommonMachine(TableOf("node\na\nb\n"), others), std::nullopt);
  EXPECT_EQ(*CommonMachine(TableOf("node\na\n"), {}), std::nullopt);
}

TEST(MachineColumn, IsNodeElseMachine) {
  EXPECT_EQ(MachineColumn(TableOf("machine,node\na,b\n")), "node");
  EXPECT_EQ(MachineColumn(TableOf("machine\na\n")), "machine");
  EXPECT_EQ(MachineColumn(TableOf("host\na\n")), "");
}

TEST(ReadMachines, File_OfOneOrSeveral) {
  kepler::testing::FakeTree tree;
  tree.Write("one.json", R"({"cores":4})");
  tree.Write("fleet.json", R"({"a":{"cores":4},"b":{"cores":8}})");
  EXPECT_EQ(ReadMachines(tree.Path("one.json"), "")->by_name.at("").cores, 4u);
  EXPECT_EQ(ReadMachines(tree.Path("fleet.json"), "host")->by_name.at("b").cores, 8u);
  EXPECT_EQ(ReadMachines("cores=16,chips=2", "")->by_name.at("").chips, 2u);
  EXPECT_THAT(WhyNot(ReadMachines("cpus=16", "")), HasSubstr("unknown key"));
  EXPECT_THAT(ReadMachines("", "")->by_name, IsEmpty());
  tree.Write("none.json", "{}");
  EXPECT_THAT(WhyNot(ReadMachines(tree.Path("none.json"), "")), HasSubstr("no property"));
}

}  // namespace
}  // namespace kepler::lab::judging
