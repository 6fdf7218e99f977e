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
  report.total.bins.clear();
  EXPECT_THAT(ReportHtml(report, {}), AllOf(Not(HasSubstr("<svg")), HasSubstr("<table"))) << "nothing to draw";
}

}  // namespace
}  // namespace kepler::report
