#include "export/web/landing_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LandingPage, Links_InOrderWithDescriptions) {
  const std::string page =
      LandingPage("0.1.0", {{"/metrics", "Metrics", "Prometheus metrics"}, {"/-/ready", "Ready", "Readiness"}});
  EXPECT_THAT(page, HasSubstr("<title>Kepler</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>Kepler Service</h1>"));
  EXPECT_THAT(page, HasSubstr("Version 0.1.0"));
  EXPECT_THAT(page, HasSubstr("<li><a href=\"/metrics\">Metrics</a> – Prometheus metrics</li>\n"
                              "<li><a href=\"/-/ready\">Ready</a> – Readiness</li>\n"));
}

TEST(LandingPage, Markup_Escaped) {
  const std::string page = LandingPage("<b>&\"'", {{"/\"><script>", "a<b", "c\xFF"}});
  EXPECT_THAT(page, HasSubstr("Version &lt;b&gt;&amp;&quot;&#39;"));
  EXPECT_THAT(page, HasSubstr("href=\"/&quot;&gt;&lt;script&gt;\">a&lt;b</a> – c\xEF\xBF\xBD</li>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace kepler::web
