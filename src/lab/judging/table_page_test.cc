#include "lab/judging/table_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "json/document.h"
#include "testing/fake_tree.h"

namespace kepler::lab::judging {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DataFile Table(const std::string& text) {
  testing::FakeTree tree;
  tree.Write("t.csv", text);
  auto data = ReadData(tree.Path("t.csv"));
  EXPECT_TRUE(data);
  return *std::move(data);
}

constexpr const char* kNode =
    "timestamp,note,cpu_cycles,bpf_cpu_time_us,dram_watts,package_power,package_watts\n"
    "60,x,1,5,3,10,0\n120,x,,6,3,20,0\n180,x,3,7,,30,0\n";

TEST(TablePage, HasTheWattsOfEachComponentOnceAndTheKnownFeatures) {
  const DataFile data = Table(kNode);
  EXPECT_THAT(ColumnsOfWatts(data), ElementsAre("dram_watts", "package_power"));
  const auto page = ReadTablePage(data, "package_power", "");
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->when, ElementsAre(0, 1, 2));
  ASSERT_EQ(page->watts.size(), 2u);
  EXPECT_EQ(page->watts[0].name, "package_power");
  ASSERT_EQ(page->features.size(), 2u);
  EXPECT_EQ(page->features[0].name, "cpu_cycles");
}

TEST(TablePage, DrawsOnlyRowsThatHaveANumber) {
  const DataFile data = Table(kNode);
  const auto table = ReadTablePage(data, "package_power", "cpu_cycles");
  ASSERT_TRUE(table);
  const plot::Page page = PageOf(*table);
  ASSERT_EQ(page.panels.size(), 3u);
  const auto& by_feature = std::get<plot::Marks>(page.panels[2].chart).series[0].points;
  EXPECT_THAT(by_feature, ElementsAre(plot::Point{.x = 1, .y = 10}, plot::Point{.x = 3, .y = 30}));
  EXPECT_EQ(page.facts[1].value, "20.0 W");
  EXPECT_THAT(SheetsOf(*table)[0].rows[2], ElementsAre("cpu_cycles", "2", "1.000", "2.000", "3.000"));
  const std::string text = PlotJson(*table, "o.svg");
  ASSERT_TRUE(json::Parse(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"({"name":"dram_watts","n":2,"min":3,"mean":3,"max":3})"));
}

TEST(TablePage, WithoutNumbersIsAnError) {
  EXPECT_THAT(ReadTablePage(Table("a,package_power\n1,\n2,\n"), "package_power", "").error().message,
              HasSubstr("column 'package_power' has no number"));
  EXPECT_THAT(ReadTablePage(Table("a\n1\n"), "package_power", "").error().message,
              HasSubstr("no column 'package_power'"));
}

}  // namespace
}  // namespace kepler::lab::judging
