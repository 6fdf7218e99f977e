#include "report/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportHtml, ChartAndTable_EveryTextIsEscaped) {
  Report report;
  report.zones = {"package"};
  report.nodes = {"n1"};
  report.bin_width = std::chrono::minutes(1);
  report.to = report.from + std::chrono::minutes(2);
  for (int i = 0; i < 10; ++i)
    report.rows.push_back(
        {.name = i == 0 ? "<script>alert('1')</script>" : "r" + std::to_string(i),
         .amount = {.energy = Energy::Joules(60), .grams = 0, .bins = {Energy::Joules(0), Energy::Joules(60)}}});
  report.rest = {
      {.name = "idle", .amount = {.energy = Energy::Joules(600), .grams = 0, .bins = {Energy::Joules(600)}}}};
  report.total = {.energy = Energy::Joules(1'200), .grams = 0, .bins = {Energy::Joules(600), Energy::Joules(600)}};
  const std::string page = ReportHtml(report, {.per_kwh = 1, .has_carbon = false});
  EXPECT_THAT(page, AllOf(HasSubstr("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"), Not(HasSubstr("<script")),
                          HasSubstr("<svg"), HasSubstr("others and rest"), HasSubstr("10.0 W"), HasSubstr("50.00 %")));
  EXPECT_THAT(page, AllOf(HasSubstr("<th scope=\"col\" class=\"n\">Cost</th>"),
                          HasSubstr("<td class=\"n\" data-header=\"Cost\">"), HasSubstr("@media (max-width: 640px)")));
  report.total.bins.clear();
  EXPECT_THAT(ReportHtml(report, {}), AllOf(Not(HasSubstr("<svg")), HasSubstr("<table"))) << "nothing to draw";
}

TEST(ReportHtml, BinsThatAreCoveredInPart_HaveThePowerOfTheCoveredTime) {
  const auto at = [](int milliseconds) { return Milliseconds(std::chrono::milliseconds(milliseconds)); };
  Report report;
  report.zones = {"package"};
  report.nodes = {"n1"};
  report.from = at(500), report.to = at(2'250);
  report.bins_from = at(-1'000);
  report.bin_width = std::chrono::seconds(1);
  // 50 W; nothing before the report, and what rounding left at its end.
  const std::vector<Energy> bins = {Energy(), Energy::Joules(25), Energy::Joules(50), Energy::Microjoules(12'500'000),
                                    Energy::Microjoules(1)};
  report.rows = {{.name = "a", .amount = {.energy = Energy::Microjoules(87'500'001), .grams = 0, .bins = bins}}};
  report.total = report.rows[0].amount;
  const std::string page = ReportHtml(report, {});
  EXPECT_THAT(page, AllOf(HasSubstr("at most 50.0 W"), HasSubstr(">50.0 W<")));
  // 890 pixels for 1.75 s, and each bar as high as the others.
  EXPECT_THAT(page, AllOf(HasSubstr(R"(<rect x="70.0" y="15.0" width="244.1" height="245.0"/>)"),
                          HasSubstr(R"(<rect x="324.3" y="15.0" width="488.2" height="245.0"/>)"),
                          HasSubstr(R"(<rect x="832.9" y="15.0" width="122.1" height="245.0"/>)")));
}

}  // namespace
}  // namespace kepler::report
