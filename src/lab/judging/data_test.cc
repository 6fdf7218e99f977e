#include "lab/judging/data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lab/judging/folds.h"
#include "model/features.h"
#include "testing/fake_tree.h"

namespace kepler::lab::judging {
namespace {

using model::Component;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsNan;
using ::testing::SizeIs;
using ::testing::StartsWith;

using Names = std::vector<std::string>;

DataFile Data(std::string text) {
  auto table = training::Table::ReadCsv(std::move(text));
  EXPECT_TRUE(table) << table.error().message;
  return {.path = "node.csv", .sha256 = {}, .table = table ? *std::move(table) : training::Table()};
}

template <class T>
std::string ErrorOf(const Result<T>& result) {
  return result ? "no error" : result.error().message;
}

TEST(ReadData, File_HasItsTableAndItsSum) {
  kepler::testing::FakeTree tree;
  tree.Write("a.csv", "x\n1\n");
  const auto data = ReadData(tree.Path("a.csv"));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->path, tree.Path("a.csv"));
  EXPECT_EQ(data->sha256, "daff832f802000e645771a60983c76c963f6ee602a6230e45237bd360e91cc1a");
  EXPECT_EQ(data->table.rows(), 1u);
}

TEST(ReadData, MissingOrMalformed_IsAnErrorThatNamesTheFile) {
  kepler::testing::FakeTree tree;
  tree.Write("short.csv", "x,y\n1\n");
  tree.Write("empty.csv", "");
  EXPECT_THAT(ErrorOf(ReadData(tree.Path("absent.csv"))), HasSubstr("absent.csv: No such file"));
  EXPECT_THAT(ErrorOf(ReadData(tree.Path("short.csv"))), HasSubstr("short.csv: line 2: 1 cells"));
  EXPECT_THAT(ErrorOf(ReadData(tree.Path("empty.csv"))), HasSubstr("empty.csv: line 1: no header"));
}

TEST(SplitItems, Commas_SeparateAndBlanksDoNotCount) {
  EXPECT_THAT(SplitItems(Names{"a, b", " c ", ",,", "d,"}), ElementsAre("a", "b", "c", "d"));
}

TEST(ResolveTargets, ColumnsThatSayIt_NeedNoComponents) {
  const auto got = ResolveTargets(Names{"package_power", "dram_watts", "platform"}, {});
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_THAT(*got, SizeIs(3));
  EXPECT_EQ((*got)[0].column, "package_power");
  EXPECT_EQ((*got)[0].component, Component::kPackage);
  EXPECT_EQ((*got)[1].component, Component::kDram);
  EXPECT_EQ((*got)[2].component, Component::kPlatform);
}

TEST(ResolveTargets, Components_CountMoreThanNames) {
  const auto got = ResolveTargets(Names{"package_power", "meter"}, Names{"dram", "core"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ((*got)[0].component, Component::kDram);
  EXPECT_EQ((*got)[1].component, Component::kCore);
}

TEST(ResolveTargets, WhatIsUnclear_IsRefused) {
  EXPECT_THAT(ErrorOf(ResolveTargets({}, {})), HasSubstr("has no column"));
  EXPECT_THAT(ErrorOf(ResolveTargets(Names{"meter"}, {})), AllOf(HasSubstr("'meter'"), HasSubstr("set --component")));
  EXPECT_THAT(ErrorOf(ResolveTargets(Names{"a", "b"}, Names{"dram"})), HasSubstr("2 columns and 1 components"));
  EXPECT_THAT(ErrorOf(ResolveTargets(Names{"a"}, Names{"cpu"})),
              AllOf(HasSubstr("'cpu' is not a component"), HasSubstr("package, core, uncore, dram, platform")));
  EXPECT_THAT(ErrorOf(ResolveTargets(Names{"dram_power", "dram_watts"}, {})), HasSubstr("dram appears twice"));
}

TEST(ResolveFeatures, NamesGroupsAndOldNames_InTheirOrder) {
  const auto got = ResolveFeatures(Names{"my_column", "CounterOnly", "bpf_cpu_time_us"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(*got, ElementsAre("my_column", "cache_miss", "cpu_cycles", "cpu_instructions", "bpf_cpu_time_ms"));
}

TEST(ResolveFeatures, TwiceOrNoneOrTooMany_IsRefused) {
  EXPECT_THAT(ErrorOf(ResolveFeatures({})), HasSubstr("has no column"));
  EXPECT_THAT(ErrorOf(ResolveFeatures(Names{"CounterOnly", "cpu_cycles"})), HasSubstr("'cpu_cycles' appears twice"));
  EXPECT_THAT(ErrorOf(ResolveFeatures(Names{"bpf_cpu_time_ms", "bpf_cpu_time_us"})), HasSubstr("appears twice"));
  Names many;
  for (size_t i = 0; i <= model::kMaxFeatures; ++i) many.push_back(fmt::format("c{}", i));
  EXPECT_THAT(ErrorOf(ResolveFeatures(many)), HasSubstr("it has 65 features; the maximum is 64"));
}

TEST(ResolveFeaturesOf, GroupOfSeveralAges_IsTheOneThatIsThere) {
  const auto of06 = ResolveFeaturesOf(Data("bpf_cpu_time_us,w\n1,2\n"), Names{"BPFOnly"});
  ASSERT_TRUE(of06) << of06.error().message;
  EXPECT_THAT(*of06, ElementsAre("bpf_cpu_time_ms"));
  const auto of07 = ResolveFeaturesOf(Data("bpf_page_cache_hit,bpf_cpu_time_ms\n1,2\n"), Names{"BPFOnly"});
  ASSERT_TRUE(of07) << of07.error().message;
  EXPECT_THAT(*of07, ElementsAre("bpf_cpu_time_ms", "bpf_page_cache_hit"));
}

TEST(ResolveFeaturesOf, GroupThatIsNotThere_SaysWhatIsMissing) {
  EXPECT_THAT(ErrorOf(ResolveFeaturesOf(Data("cpu_cycles,cache_miss\n1,2\n"), Names{"CounterOnly"})),
              AllOf(StartsWith("node.csv: "), HasSubstr("missing: cpu_instructions")));
}

TEST(FindColumn, Name_OrAnotherAgeOfIt) {
  const DataFile data = Data("a,bpf_cpu_time_us\n1,2\n");
  EXPECT_EQ(FindColumn(data, "a").value_or(99), 0u);
  EXPECT_EQ(FindColumn(data, "bpf_cpu_time_ms").value_or(99), 1u);
}

TEST(FindColumn, NameThatIsNotThere_SuggestsTheNearest) {
  const DataFile data = Data("cpu_cycles,package_power\n1,2\n");
  EXPECT_EQ(ErrorOf(FindColumn(data, "pakage_power")),
            "node.csv: no column 'pakage_power'; did you mean package_power? Its columns: cpu_cycles, package_power");
  EXPECT_EQ(ErrorOf(FindColumn(data, "x")), "node.csv: no column 'x'; its columns: cpu_cycles, package_power");
}

TEST(FindColumn, ThousandsOfColumns_AreNotAllListed) {
  std::string header = "c0", row = "0";
  for (int i = 1; i < 5000; ++i) {
    header += fmt::format(",c{}", i);
    row += ",0";
  }
  EXPECT_LT(ErrorOf(FindColumn(Data(header + '\n' + row + '\n'), "x")).size(), 1200u);
}

TEST(ReadWatts, MoreThanAnyMachineDraws_IsRefusedWithItsLine) {
  EXPECT_THAT(ReadWatts(Data("w\n1\n-1e12\n"), "w").value(), ElementsAre(1, -1e12));
  EXPECT_THAT(ErrorOf(ReadWatts(Data("w\n1\n-2e12\n"), "w")), HasSubstr("node.csv: line 3, column 'w': -2"));
}

TEST(RowsOfPower, FewBelowZero_AreLeftOut) {
  std::string text = "package_power,dram_power\n";
  for (int i = 0; i < 18; ++i) text += "5,0\n";
  const DataFile data = Data(text + "-1,1\n1,-0.001\n");
  const auto package = *ReadWatts(data, "package_power"), dram = *ReadWatts(data, "dram_power");
  const auto rows = RowsOfPower(data, std::vector<WattsColumn>{{"package_power", package}, {"dram_power", dram}});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->size(), 18u);
  EXPECT_EQ(rows->back(), 17u);
  EXPECT_EQ(RowsOfPower(data, std::vector<WattsColumn>{{"package_power", package}})->back(), 19u);
}

TEST(RowsOfPower, MoreThanATenthBelowZero_IsRefusedWithTheFirst) {
  const DataFile data = Data("w\n5\n-1.5\n-2\n5\n5\n5\n5\n5\n5\n5\n");
  const auto watts = *ReadWatts(data, "w");
  EXPECT_EQ(ErrorOf(RowsOfPower(data, std::vector<WattsColumn>{{"w", watts}})),
            "node.csv: power is below 0 W in 2 of 10 rows (the first: line 3, column 'w': -1.5 W), which no meter "
            "measures; correct or remove these rows");
}

TEST(FindTarget, DynamicPower_OnlyWhereTheTableHasNothingElse) {
  EXPECT_EQ(FindTarget(Data("package_dynamic_power\n1\n"), "package_power"), "package_dynamic_power");
  EXPECT_EQ(FindTarget(Data("package_dynamic_power,package_power\n1,1\n"), "package_power"), "package_power");
  EXPECT_EQ(FindTarget(Data("dram_dynamic_power\n1\n"), "package_power"), "package_power");
  EXPECT_EQ(FindTarget(Data("wall\n1\n"), "my_column"), "my_column");
  EXPECT_EQ(ResolveTarget("dram_dynamic_power", "")->component, Component::kDram);
}

TEST(ReadGappy, EmptyCells_AreNaN) {
  const auto got = ReadGappy(Data("a,b\n1,\n2, \n3,-4.5\n4,+5\n"), 1);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(*got, ElementsAre(IsNan(), IsNan(), -4.5, 5));
}

TEST(ReadGappy, AnythingElse_IsRefusedWithItsLine) {
  for (const char* cell : {"x", "NaN", "inf", "1e999", "0x10"})
    EXPECT_THAT(ErrorOf(ReadGappy(Data(fmt::format("a,b\n1,2\n\n1,{}\n", cell)), 1)),
                AllOf(StartsWith("node.csv: line 4, column 2 ('b')"), HasSubstr(cell)))
        << cell;
}

TEST(ReadFolds, EachNumber_IsAFoldWhoseRowsAreTested) {
  const auto got = ReadFolds(Data("f\n7\n0\n-1\n7\n"), "f");
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_THAT(*got, SizeIs(2));
  EXPECT_THAT((*got)[0].test, ElementsAre(1));
  EXPECT_THAT((*got)[0].train, ElementsAre(0, 2, 3));
  EXPECT_THAT((*got)[1].test, ElementsAre(0, 3));
  EXPECT_THAT((*got)[1].train, ElementsAre(1, 2));
}

TEST(PlanFolds, FoldsAndMachinesWithoutAUsableRow_AreNotCounted) {
  const DataFile data = Data("f,node\n0,a\n1,b\n2,c\n");
  const std::vector<size_t> usable = {0, 2};
  const std::vector<uint32_t> groups = {0, 1, 2};
  const auto by_column = PlanFolds(data, {.folds = "f", .group = ""}, {}, usable).value();
  EXPECT_THAT(by_column.folds, SizeIs(2));
  EXPECT_EQ(by_column.description, "out of fold: 2 by column f");
  const auto by_group = PlanFolds(data, {.folds = "", .group = "node"}, groups, usable).value();
  EXPECT_EQ(by_group.description,
            "out of fold: 2 values of column node in 2 folds, each predicted by a model of the others");
  EXPECT_EQ(PlanFolds(data, {}, {}, usable).value().description, "out of fold: 2 blocks of consecutive rows");
}

TEST(ReadFolds, WhatIsNoFold_IsRefusedWithItsLine) {
  for (const char* cell : {"0.5", "-2", "1000000", "-0.5"})
    EXPECT_THAT(ErrorOf(ReadFolds(Data(fmt::format("f\n0\n{}\n", cell)), "f")),
                AllOf(StartsWith("node.csv: line 3, column 'f'"), HasSubstr("is not a fold")))
        << cell;
  EXPECT_THAT(ErrorOf(ReadFolds(Data("f,w\n0,1\n,2\n"), "f")), HasSubstr("the cell is empty"));
  EXPECT_THAT(ErrorOf(ReadFolds(Data("f\n0\n"), "g")), HasSubstr("no column 'g'"));
}

TEST(ReadFolds, NoneOrTooMany_IsRefused) {
  EXPECT_THAT(ErrorOf(ReadFolds(Data("f\n-1\n-1\n"), "f")), HasSubstr("has no row to test"));
  std::string text = "f\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("{}\n", i);
  EXPECT_THAT(ReadFolds(Data(text + "-1\n"), "f").value(), SizeIs(1000));
  EXPECT_THAT(ErrorOf(ReadFolds(Data(text + "1000\n"), "f")), HasSubstr("more than 1000 folds"));
}

TEST(ReadGroups, EqualTexts_AreOneGroup) {
  const auto got = ReadGroups(Data("m\nepyc\nxeon\nepyc\n\"a,b\"\n"), "m");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(*got, ElementsAre(0, 1, 0, 2));
}

TEST(ReadGroups, OneOnly_IsRefused) {
  EXPECT_THAT(ErrorOf(ReadGroups(Data("m\nepyc\nepyc\n"), "m")),
              AllOf(StartsWith("node.csv: "), HasSubstr("column 'm' has a single value")));
  EXPECT_THAT(ErrorOf(ReadGroups(Data("m\na\nb\n"), "machine")), HasSubstr("no column 'machine'"));
}

TEST(RowNames, ColumnRow_OrTheIndex) {
  EXPECT_THAT(RowNames(Data("w,row\n1,x\n2,\n")), ElementsAre("x", ""));
  EXPECT_THAT(RowNames(Data("w\n1\n2\n")), ElementsAre("0", "1"));
}

TEST(PredictionsCsv, OneComponent_IsThePrediction) {
  const Target target{.column = "dram_power", .component = Component::kDram};
  EXPECT_EQ(PredictionsCsv(Names{"a", "b,\"c\"", "d"}, std::vector<size_t>{1, 2}, std::vector{target},
                           std::vector<std::vector<double>>{{1.5, 2}}),
            "row,prediction\n\"b,\"\"c\"\"\",1.5\nd,2\n");
}

TEST(PredictionsCsv, SeveralComponents_HaveAColumnEach) {
  const std::vector<Target> targets{{.column = "p", .component = Component::kPackage},
                                    {.column = "d", .component = Component::kDram}};
  EXPECT_EQ(PredictionsCsv(Names{"0", "1"}, std::vector<size_t>{0, 1}, targets,
                           std::vector<std::vector<double>>{{1, 2}, {0.1, 4e-7}}),
            "row,package,dram\n0,1,0.1\n1,2,4e-07\n");
}

}  // namespace
}  // namespace kepler::lab::judging
