#include "lab/judging/pipeline_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/document.h"

namespace kepler::lab::judging {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PipelineRow Row(std::string group, model::Component component, double mae) {
  return {.group = std::move(group),
          .trainer = "auto",
          .figures = {.target = {"x", component},
                      .trainer = "auto(linear)",
                      .errors = {{.rows = 4, .mae_watts = mae, .mape = 2, .r2 = 0.5}, 4},
                      .of_mean = {},
                      .scores = {}},
          .exceeded = {},
          .is_written = true};
}

std::vector<PipelineRow> Rows() {
  std::vector<PipelineRow> rows = {Row("A", model::Component::kDram, 1), Row("A", model::Component::kPackage, 9),
                                   Row("B", model::Component::kPackage, 3)};
  rows[1].is_written = false;
  rows[2].exceeded = {"MAE is above 2 W"};
  SortRows(rows);
  return rows;
}

TEST(PipelineReport, RowsAreByComponentAndError) {
  EXPECT_THAT(
      PipelineTable(Rows()),
      ::testing::ContainsRegex("package +B +auto +4 +3.000 .*MAE is above 2 W\npackage +A .*not the best trainer\n"
                               "dram +A .*written\n"));
}

TEST(PipelineReport, JsonHasEveryRow) {
  const std::string text = PipelineJson(R"("rows":4,)", Rows());
  ASSERT_TRUE(json::Parse(text)) << text;
  EXPECT_THAT(text, HasSubstr(R"({"rows":4,"models":[{"features":"B","component":"package","target":"x",)"));
  EXPECT_THAT(text, HasSubstr(R"("exceeded":["MAE is above 2 W"],"written":true})"));
}

TEST(PipelineReport, PageHasTablesAndADrawingForEachZone) {
  Comparison zone;
  zone.title = "package: B";
  zone.rows_of_data = 3;
  zone.when = {0, 1, 2};
  zone.measured = {10, 20, 30};
  zone.names = {"B"};
  zone.predicted = {{11, 19, 33}};
  const auto page = PipelineHtml({.title = "<t>",
                                  .facts = {{"Data", "\x1b[31m"}},
                                  .groups = {{"B", "a, b"}},
                                  .rows = Rows(),
                                  .zones = {zone, zone}});
  ASSERT_TRUE(page);
  EXPECT_THAT(*page, HasSubstr("<title>&lt;t&gt;</title>"));
  EXPECT_THAT(*page, HasSubstr("<td>B</td><td>a, b</td>"));
  EXPECT_THAT(*page, HasSubstr("<td>package</td><td>B</td><td>auto(linear)</td><td>4</td><td>3.000</td>"));
  EXPECT_THAT(*page, Not(HasSubstr("\x1b")));
  size_t drawings = 0;
  for (size_t at = page->find("<svg"); at != std::string::npos; at = page->find("<svg", at + 1)) ++drawings;
  EXPECT_EQ(drawings, 2u);
}

}  // namespace
}  // namespace kepler::lab::judging
