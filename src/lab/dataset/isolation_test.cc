#include "lab/dataset/isolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kepler::lab::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Pair;

TEST(Isolation, ColumnsOfWatts_AreKnownByTheirNames) {
  EXPECT_EQ(WattsOf("package_power"), "package");
  EXPECT_EQ(WattsOf("dram_watts"), "dram");
  EXPECT_EQ(WattsOf("cpu_cycles"), "");
  EXPECT_EQ(WattsOf("background_package_power"), "");
  EXPECT_EQ(WattsOf("package_dynamic_power"), "package");
}

TEST(Isolation, ColumnsOfDynamicPower_AreKnownByTheirNames) {
  EXPECT_EQ(DynamicName("package_power"), "package_dynamic_power");
  EXPECT_EQ(DynamicName("dram_watts"), "dram_dynamic_power");
  EXPECT_TRUE(IsDynamic(DynamicName("package_power")));
  EXPECT_FALSE(IsDynamic("package_power"));
}

TEST(Isolation, IdleWatts_AreThoseOfEachNode) {
  const NumberColumn load{.name = "cpu_cycles", .values = {0, 0, 9, 9}};
  const std::vector<std::string_view> nodes = {"a", "b", "a", "b"};
  const auto got = TakeOffIdle({{.name = "package_power", .values = {20, 5, 50, 15}}},
                               {.load = load, .nodes = nodes, .share = 10, .percentile = 0});
  EXPECT_THAT(got.watts[0].values, ElementsAre(0, 0, 30, 10));
  EXPECT_EQ(got.rows, 4u);
  EXPECT_EQ(got.clamped, 0u);
  EXPECT_THAT(got.notes, ElementsAre("a: package_power: 20.000 W, percentile 0 of 2 rows with cpu_cycles up to 9",
                                     "b: package_power: 5.000 W, percentile 0 of 2 rows with cpu_cycles up to 9"));
}

TEST(Isolation, NodeWithoutLoad_HasNoDynamicPower) {
  const NumberColumn load{.name = "cpu_cycles", .values = {0, NAN, 9, NAN}};
  const std::vector<std::string_view> nodes = {"a", "b", "a", "b"};
  const auto got = TakeOffIdle(
      {{.name = "package_power", .values = {20, 5, 50, 15}}, {.name = "dram_power", .values = {2, NAN, 3, NAN}}},
      {.load = load, .nodes = nodes, .share = 10, .percentile = 0});
  EXPECT_THAT(got.watts[0].values, ElementsAre(0, IsNan(), 30, IsNan())) << "not the watts with idle power";
  EXPECT_THAT(
      got.notes,
      ElementsAre(HasSubstr("a: package_power: 20.000 W"),
                  "b: package_power: no row with watts has cpu_cycles, so idle power is unknown; 2 watts are left out",
                  HasSubstr("a: dram_power: 2.000 W")));
  EXPECT_EQ(got.rows, 4u);
}

TEST(Isolation, TableOfABusyMachine_IsSaid) {
  const NumberColumn load{.name = "cpu_cycles", .values = {5, 9}};
  const std::vector<std::string_view> nodes(2);
  const auto got = TakeOffIdle({{.name = "package_power", .values = {20, 30}}}, {.load = load, .nodes = nodes});
  EXPECT_THAT(got.notes, ElementsAre(HasSubstr("package_power: 21.000 W"),
                                     "package_power: the minimum load is 56 percent of the maximum, so the "
                                     "subtracted watts include more than idle power"));
}

TEST(Isolation, ReadingBelowIdle_IsCutAndCounted) {
  const auto got = TakeOffProfile({{.name = "package_power", .values = {10, NAN, 40}}}, {{"package", 25}}, "idle.json");
  ASSERT_TRUE(got);
  EXPECT_THAT(got->watts[0].values, ElementsAre(0, IsNan(), 15));
  EXPECT_TRUE(got->watts[0].is_dynamic);
  EXPECT_EQ(got->rows, 2u);
  EXPECT_EQ(got->clamped, 1u);
  EXPECT_THAT(got->notes, ElementsAre("package_power: 25.000 W from idle.json"));
}

TEST(Isolation, ProfileOfAColumn_GoesBeforeThatOfItsComponent) {
  const auto got =
      TakeOffProfile({{.name = "package_power", .values = {10}}, {.name = "package_watts", .values = {10}}},
                     {{"package", 1}, {"package_watts", 2}}, "p");
  EXPECT_THAT(got->watts[0].values, ElementsAre(9));
  EXPECT_THAT(got->watts[1].values, ElementsAre(8));
  const auto missing = TakeOffProfile({{.name = "dram_power", .values = {1}}}, {{"package", 1}}, "p.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "p.json: it has no value for dram");
}

TEST(Isolation, ProfileOfAnIdleTable_HasItsMedians) {
  const std::vector<NumberColumn> idle = {{.name = "package_power", .values = {3, NAN, 1, 2}},
                                          {.name = "dram_power", .values = {NAN}},
                                          {.name = "cpu_cycles", .values = {7}}};
  EXPECT_THAT(ProfileOf(idle), ElementsAre(Pair("package", 2)));
}

/// Knows the package only.
model::PowerModel PackageModel() {
  model::PowerModel model;
  model.components.emplace_back().component = model::Component::kPackage;
  return model;
}

model::Estimate PackageWatts(double watts) {
  model::Estimate estimate;
  estimate.watts[static_cast<size_t>(model::Component::kPackage)] = watts;
  return estimate;
}

TEST(Isolation, BackgroundOfAModel_IsOfEachRowOrOfAll) {
  const std::vector<NumberColumn> watts = {{.name = "package_power", .values = {10, 20}},
                                           {.name = "dram_power", .values = {3, 3}}};
  const auto rows = TakeOffEstimates(watts, PackageModel(), std::vector{PackageWatts(1), PackageWatts(5)}, "columns");
  EXPECT_THAT(rows.watts[0].values, ElementsAre(9, 15));
  EXPECT_THAT(rows.watts[1].values, ElementsAre(3, 3));
  EXPECT_TRUE(rows.watts[0].is_dynamic);
  EXPECT_FALSE(rows.watts[1].is_dynamic);
  EXPECT_THAT(rows.notes, ElementsAre("package_power: mean 3.000 W, from columns",
                                      "dram_power: nothing was subtracted, because the model does not predict it"));
  const auto all = TakeOffEstimates(watts, PackageModel(), std::vector{PackageWatts(2)}, "t.csv");
  EXPECT_THAT(all.watts[0].values, ElementsAre(8, 18));
}

TEST(Isolation, NothingTakenOff_ChangesNoRow) {
  const auto got = TakeOffProfile({{.name = "package_power", .values = {0, 5}}}, {{"package", 0}}, "p");
  EXPECT_EQ(got->rows, 0u);
  EXPECT_THAT(TakeOffEstimates({}, PackageModel(), {}, "x").notes, IsEmpty());
}

TEST(Isolation, Features_LoseTheBackgroundToo) {
  std::vector<double> feature = {10, NAN, 3, 4};
  TakeOffBackground(feature, std::vector<double>{1, 2, 5, NAN});
  EXPECT_THAT(feature, ElementsAre(9, IsNan(), 0, 4));
  TakeOffBackground(feature, std::vector<double>{2});
  EXPECT_THAT(feature, ElementsAre(7, IsNan(), 0, 2));
}

}  // namespace
}  // namespace kepler::lab::dataset
