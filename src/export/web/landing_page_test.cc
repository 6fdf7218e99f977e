#include "export/web/landing_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/web/html_text.h"

namespace kepler::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LandingPage, Links_InOrderWithDescriptions) {
  const std::string page =
      LandingPage({"node-7", "0.1.0"},
                  {{"/metrics", "Metrics", "Prometheus metrics"}, {"/-/ready", "Ready", "Readiness"}}, std::nullopt);
  EXPECT_THAT(page, HasSubstr("<title>node-7 – Kepler</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>Kepler on node-7</h1>"));
  EXPECT_THAT(page, HasSubstr("Version 0.1.0"));
  EXPECT_THAT(page, HasSubstr("<li><a href=\"/metrics\">Metrics</a> – Prometheus metrics</li>\n"
                              "<li><a href=\"/-/ready\">Ready</a> – Readiness</li>\n"));
}

TEST(LandingPage, Markup_Escaped) {
  const std::string page = LandingPage({"<i>", "<b>&\"'"}, {{"/\"><script>", "a<b", "c\xFF"}}, std::nullopt);
  EXPECT_THAT(page, HasSubstr("Version &lt;b&gt;&amp;&quot;&#39;"));
  EXPECT_THAT(page, HasSubstr("href=\"/&quot;&gt;&lt;script&gt;\">a&lt;b</a> – c\xEF\xBF\xBD</li>"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;i&gt; – Kepler</title>"));
}

TEST(LandingPage, UnknownNode_IsLeftOut) {
  EXPECT_THAT(LandingPage({"", "1"}, {}, {}), AllOf(HasSubstr("<title>Kepler</title>"), HasSubstr("<h1>Kepler</h1>")));
}

TEST(LandingPage, Table_RowsAndRemarksAreEscapedAndCut) {
  const PageTable table{.title = "Meters & more",
                        .headers = {"Meter", "Watts"},
                        .rows = {{"rapl<", "12.50"}, {"dcmi", "-"}},
                        .remarks = {"dcmi: <denied>", std::string(5000, 'x')}};
  const std::string page = LandingPage({"n", "1"}, {}, table);
  EXPECT_THAT(page,
              HasSubstr("<h2>Meters &amp; more</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                        "aria-label=\"Meters &amp; more\"><table aria-label=\"Meters &amp; "
                        "more\">\n<thead><tr><th scope=\"col\">Meter</th><th scope=\"col\">Watts</th></tr></thead>\n"));
  EXPECT_THAT(page, HasSubstr("<tr><td data-header=\"Meter\">rapl&lt;</td><td class=\"number\" data-header=\"Watts\">"
                              "12.50</td></tr>\n"));
  EXPECT_THAT(page,
              HasSubstr("<tr><td data-header=\"Meter\">dcmi</td><td "
                        "data-header=\"Watts\">-</td></tr>\n</tbody></table></div>\n<p>dcmi: &lt;denied&gt;</p>\n"));
  EXPECT_THAT(page, HasSubstr("<p>" + std::string(kMaxText, 'x') + "</p>"));
}

}  // namespace
}  // namespace kepler::web
