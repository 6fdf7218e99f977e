#include "report/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/document.h"
#include "report/report_html.h"

namespace kepler::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Report Example() {
  Report report;
  report.zones = {"package"};
  report.nodes = {"n1"};
  report.from = Milliseconds(std::chrono::seconds(1'700'000'000));
  report.to = report.from + std::chrono::hours(1);
  report.rows = {{.name = "shop\n\x1b[31m\"x\"",
                  .amount = {.energy = Energy::Microjoules(3'600'000'000'001), .grams = 400, .bins = {}}},
                 {.name = "a", .amount = {}},
                 {.name = "b", .amount = {.energy = Energy::Microjoules(-1), .grams = 0, .bins = {}}}};
  report.rest = {{.name = "idle", .amount = {.energy = Energy::Joules(3'600'000), .grams = 400, .bins = {}}}};
  report.total = {.energy = Energy::Joules(7'200'000), .grams = 800, .bins = {}};
  report.downtimes = {{.node = "n1", .from = report.from, .to = report.to}};
  return report;
}

TEST(ReportTable, ForPeople) {
  const std::string table = ReportTable(Example(), {.per_kwh = 0.5, .has_carbon = true});
  EXPECT_THAT(table, AllOf(HasSubstr("Energy of package by namespace, 1 node, from 2023-11-14T22:13:20.000Z"),
                           HasSubstr("1.000000"), HasSubstr("50.00 %"), HasSubstr("0.5000"), HasSubstr("(idle)"),
                           HasSubstr("no energy is known from")));
  EXPECT_FALSE(table.contains('\x1b'));
}

TEST(ReportTable, NamesTimesWithoutTicks) {
  Report report = Example();
  report.by = By::kVm;
  report.gaps.assign(12, {.node = "n2", .from = report.from, .to = report.to});
  report.notes = {"more\x1b"};
  const std::string table = ReportTable(report, {});
  EXPECT_THAT(table, AllOf(HasSubstr(" VM "), HasSubstr("n2: no ticks from 2023-11-14T22:13:20.000Z to"),
                           HasSubstr("and 2 more such times"), HasSubstr("more")));
  EXPECT_FALSE(table.contains('\x1b'));
}

TEST(ReportNotes, OneIsSingular) {
  Report report = Example();
  report.incomplete = report.repeated = 1;
  report.impossible = 2;
  EXPECT_THAT(ReportNotes(report), AllOf(HasSubstr("\n1 tick left out, because the last lines are missing"),
                                         HasSubstr("\n1 tick found twice"), HasSubstr("\n2 ticks left out")));
  report.rows.resize(2);
  KeepLargest(1, report);
  EXPECT_EQ(report.rows.back().name, "1 other");
}

/// RFC 4180: a field with a line end is quoted. A carriage return alone would end a line in some readers.
TEST(ReportCsv, LineEndsInNamesAreQuotedOrReplaced) {
  Report report = Example();
  report.rows.resize(1);
  report.rows[0].name = "a\nb\r,c";
  EXPECT_THAT(ReportCsv(report, {}), HasSubstr("\nnamespace,\"a\nb\uFFFD,c\",3600000.000001,"));
}

TEST(ReportCsv, EveryDigitAndQuotes) {
  EXPECT_THAT(ReportCsv(Example(), {}), AllOf(HasSubstr("kind,name,joules,kwh,share\n"),
                                              HasSubstr("\"\"x\"\"\",3600000.000001,1.000000000,0.500000\n"),
                                              HasSubstr("rest,\"idle\",3600000.000000"), HasSubstr("\"b\",-0.000001")));
  Report formulas = Example();
  formulas.rows[0].name = "=HYPERLINK(\"x\")\x1b";
  EXPECT_THAT(ReportCsv(formulas, {}), HasSubstr("namespace,\"'=HYPERLINK(\"\"x\"\")\uFFFD\","));
  EXPECT_THAT(
      ReportCsv(Example(), {.per_kwh = 2, .has_carbon = true}),
      AllOf(HasSubstr("share,cost,co2_g\n"), HasSubstr("total,\"total\",7200000.000000,2.000000000,1.000000,4,800")));
}

TEST(ReportJson, IsJson) {
  const auto parsed = json::Parse(ReportJson(Example(), {.per_kwh = 2, .has_carbon = true}));
  ASSERT_TRUE(parsed);
  const json::Cursor root(*parsed);
  EXPECT_EQ(root.Text("by").value(), "namespace");
  const auto lines = root.Elements("lines");
  ASSERT_EQ(lines->size(), 5U);
  EXPECT_EQ((*lines)[0].Text("name").value(), "shop\n\x1b[31m\"x\"");
  EXPECT_EQ((*lines)[4].Number("cost").value(), 4);
  EXPECT_EQ(root.Elements("downtimes")->size(), 1U);
  EXPECT_EQ(root.Elements("gaps")->size(), 0U);
}

TEST(Report, SmallCostIsNotZero) {
  Report report = Example();
  report.rows = {{.name = "small", .amount = {.energy = Energy::Microjoules(1), .grams = 1e-10, .bins = {}}}};
  const Prices prices{.per_kwh = 0.36, .has_carbon = true};
  EXPECT_THAT(ReportTable(report, prices), AllOf(HasSubstr("<0.0001 "), HasSubstr("<0.001 ")));
  EXPECT_THAT(ReportHtml(report, prices), AllOf(HasSubstr(">&lt;0.0001<"), HasSubstr(">&lt;0.001<")));
  EXPECT_THAT(ReportCsv(report, prices), HasSubstr(",1e-13,1e-10\n"));
  EXPECT_THAT(ReportJson(report, prices), HasSubstr(R"("cost":1e-13,"co2_g":1e-10})"));
}

TEST(KeepLargest, TheOthersAreOneRow) {
  Report report = Example();
  KeepLargest(1, report);
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[1].name, "2 others");
  EXPECT_EQ(report.rows[1].amount.energy, Energy::Microjoules(-1));
}

}  // namespace
}  // namespace kepler::report
