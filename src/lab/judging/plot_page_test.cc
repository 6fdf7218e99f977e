#include "lab/judging/plot_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "json/document.h"

namespace kepler::lab::judging {
namespace {

using ::testing::HasSubstr;

Comparison Hundred() {
  Comparison compared;
  compared.title = "t\x1b[31m";
  compared.data = "d.csv";
  compared.target = "package_power";
  compared.rows_of_data = 120;
  compared.names = {"a", "b"};
  compared.predicted.resize(2);
  for (int i = 0; i < 100; ++i) {
    compared.when.push_back(i);
    compared.measured.push_back(100 + i);
    compared.predicted[0].push_back(101 + i);
    compared.predicted[1].push_back(98 + i);
  }
  return compared;
}

TEST(LoadBands, AreTenthsOfTheRows) {
  const Comparison compared = Hundred();
  const auto bands = BandsOf(compared.measured, compared.predicted[0]);
  ASSERT_EQ(bands.size(), 10u);
  EXPECT_EQ(bands[0].from, 100);
  EXPECT_EQ(bands[0].to, 109);
  EXPECT_EQ(bands[9].to, 199);
  for (const LoadBand& band : bands) {
    EXPECT_EQ(band.errors.rows, 10u);
    EXPECT_DOUBLE_EQ(band.errors.mae_watts, 1);
  }
  EXPECT_GT(bands[0].errors.mape, bands[9].errors.mape);
}

TEST(LoadBands, EqualWatts_AreInOne) {
  std::vector<double> measured(90, 30.0);
  measured.insert(measured.end(), 10, 60.0);
  const auto bands = BandsOf(measured, std::vector<double>(100, 31.0));
  ASSERT_EQ(bands.size(), 2u);
  EXPECT_EQ(bands[0].errors.rows, 90u);
  EXPECT_EQ(bands[1].errors.rows, 10u);
  EXPECT_EQ(BandsOf(std::vector<double>{5}, std::vector<double>{6}).size(), 1u);
}

TEST(PlotPage, SaysTheFiguresAndHasAPanelForAllThatIsGiven) {
  Comparison compared = Hundred();
  EXPECT_EQ(PageOf(compared).panels.size(), 6u);
  EXPECT_EQ(PageOf(compared).title, "t\\x1b[31m");
  EXPECT_EQ(PageOf(compared).facts[0].value, "100 of 120");
  EXPECT_EQ(PageOf(compared).facts[1].value, "1.00 W");
  compared.feature = "cpu_cycles";
  compared.feature_values = compared.when;
  EXPECT_EQ(PageOf(compared).panels.size(), 7u);
  compared.importance = {{.feature = "cpu_cycles", .watts = 3}, {.feature = "noise", .watts = -0.25}};
  ASSERT_EQ(PageOf(compared).panels.size(), 8u);
  const plot::Page page = PageOf(compared);
  const auto& bars = std::get<plot::Bars>(page.panels[5].chart).bars;
  ASSERT_EQ(bars.size(), 2u);
  EXPECT_EQ(bars[0].text, "3.00 W");
  EXPECT_EQ(bars[1].length, 0);  // no bar to the left
  compared.names.pop_back();
  compared.predicted.pop_back();
  EXPECT_EQ(PageOf(compared).panels.size(), 7u);
}

TEST(PlotPage, LoadWithoutAMape_HasNoPercentError) {
  Comparison compared = Hundred();
  for (int i = 0; i < 10; ++i) compared.measured[static_cast<size_t>(i)] = 0;
  const plot::Page page = PageOf(compared);
  const auto heights = [&](size_t panel) { return std::get<plot::Columns>(page.panels[panel].chart).heights; };
  EXPECT_GT(heights(3)[0], 0);
  EXPECT_THAT(heights(4)[0], ::testing::IsNan());
  EXPECT_GT(heights(4)[1], 0);
}

TEST(PlotPage, JsonAndSheets_HaveTheSameFigures) {
  const Comparison compared = Hundred();
  const std::string json = PlotJson(compared, "p.svg");
  ASSERT_TRUE(json::Parse(json));
  EXPECT_THAT(json, HasSubstr(R"("output":"p.svg","rows":120,"n":100,"mae":1,)"));
  EXPECT_THAT(json, HasSubstr(R"({"name":"b","n":100,"mae":2,)"));
  const auto sheets = SheetsOf(compared);
  ASSERT_EQ(sheets.size(), 2u);
  EXPECT_EQ(sheets[0].rows[1][2], "2.000");
  EXPECT_EQ(sheets[1].rows.size(), 10u);
}

TEST(PlotSources, NameAndPath) {
  EXPECT_EQ(SourceOf("trees=out=1.csv").name, "trees");
  EXPECT_EQ(SourceOf("trees=out=1.csv").path, "out=1.csv");
  EXPECT_EQ(SourceOf("out.csv").name, "out.csv");
}

}  // namespace
}  // namespace kepler::lab::judging
