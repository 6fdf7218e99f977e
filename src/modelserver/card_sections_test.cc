#include "modelserver/card_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace kepler::modelserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::ComponentModel Component(model::Component which, size_t rows) {
  model::ComponentModel component;
  component.component = which;
  for (size_t i = 0; i < rows; ++i) {
    component.tested.actual.push_back(10 + static_cast<double>(i));
    component.tested.predicted.push_back(12 + static_cast<double>(i));
  }
  return component;
}

TEST(TestedSection, DrawsAndTabulatesWhatIsKept) {
  model::PowerModel model;
  model.components = {Component(model::Component::kPackage, 100), Component(model::Component::kDram, 0)};
  const std::string html = TestedSection(model);
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, Not(HasSubstr("<?xml")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("<h3>package: errors by load</h3>"));
  EXPECT_THAT(html, Not(HasSubstr("<h3>dram")));
  EXPECT_THAT(html, HasSubstr("10.00 to 19.00</td><td class=\"n\">10</td><td class=\"n\">2.00</td>"));
}

TEST(TestedSection, EachComponentHasAChartWithItsOwnIds) {
  model::PowerModel model;
  model.components = {Component(model::Component::kPackage, 9), Component(model::Component::kDram, 9)};
  const std::string html = TestedSection(model);
  EXPECT_THAT(html, HasSubstr("aria-label=\"package: predicted against actual watts\""));
  EXPECT_THAT(html, HasSubstr("aria-label=\"dram: predicted against actual watts\""));
  std::set<std::string> ids;
  const std::string mark = " id=\"";
  for (size_t at = html.find(mark); at != std::string::npos; at = html.find(mark, at + 1)) {
    const size_t begin = at + mark.size();
    EXPECT_TRUE(ids.insert(html.substr(begin, html.find('"', begin) - begin)).second) << html.substr(begin, 20);
  }
}

TEST(TestedSection, NoRows_NoSection) {
  model::PowerModel model;
  model.components = {Component(model::Component::kPackage, 0)};
  EXPECT_EQ(TestedSection(model), "");
}

TEST(DecisionSection, NewestFirst_AndEscaped) {
  const std::vector<Decision> decisions = {
      {.time = 1'700'000'000, .new_version = 1, .is_published = true, .reason = "first"},
      {.time = 1e300, .old_version = 1, .new_version = 2, .old_mae = 3.5, .new_mae = 3, .rows = 9, .reason = "<b>&"}};
  const std::string html = DecisionSection(decisions);
  EXPECT_LT(html.find("&lt;b&gt;&amp;"), html.find("first"));
  EXPECT_THAT(html,
              HasSubstr("<td>2023-11-14 22:13</td><td class=\"n\">1</td><td>yes</td><td class=\"n more\">-</td>"));
  EXPECT_THAT(html, HasSubstr("<td>-</td><td class=\"n\">2</td><td>no</td><td class=\"n more\">3.50</td>"));
  EXPECT_THAT(html, HasSubstr("A rollback is not tested."));
  EXPECT_EQ(DecisionSection({}), "");
}

TEST(DecisionSection, ShowsTheLatestTwenty) {
  std::vector<Decision> decisions(50);
  for (size_t i = 0; i < decisions.size(); ++i) decisions[i].new_version = static_cast<uint32_t>(i + 1);
  const std::string html = DecisionSection(decisions);
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">31</td>"));
  EXPECT_THAT(html, Not(HasSubstr("<td class=\"n\">30</td>")));
}

}  // namespace
}  // namespace kepler::modelserver
