#include "export/web/landing_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kepler::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LandingPage, Links_InOrderWithDescriptions) {
  const std::string page = LandingPage(
      "0.1.0", {{"/metrics", "Metrics", "Prometheus metrics"}, {"/-/ready", "Ready", "Readiness"}}, nullptr);
  EXPECT_THAT(page, HasSubstr("<title>Kepler</title>"));
  EXPECT_THAT(page, HasSubstr("<h1>Kepler Service</h1>"));
  EXPECT_THAT(page, HasSubstr("Version 0.1.0"));
  EXPECT_THAT(page, HasSubstr("<li><a href=\"/metrics\">Metrics</a> – Prometheus metrics</li>\n"
                              "<li><a href=\"/-/ready\">Ready</a> – Readiness</li>\n"));
}

TEST(LandingPage, Markup_Escaped) {
  const std::string page = LandingPage("<b>&\"'", {{"/\"><script>", "a<b", "c\xFF"}}, nullptr);
  EXPECT_THAT(page, HasSubstr("Version &lt;b&gt;&amp;&quot;&#39;"));
  EXPECT_THAT(page, HasSubstr("href=\"/&quot;&gt;&lt;script&gt;\">a&lt;b</a> – c\xEF\xBF\xBD</li>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(LandingPage, Meters_ZonesSensorsAndWhatGivesNoReading) {
  snapshot::Snapshot snapshot;
  snapshot.zones = {{.name = "package", .path = "/sys/<p>", .source = "rapl"}};
  snapshot.node.resize(1);
  snapshot.node[0].fresh = true;
  snapshot.node[0].power = Power::Watts(12.5);
  snapshot.platform.resize(2);
  snapshot.platform[0].source = "acpi";
  snapshot.platform[0].sensor.source_id = "ACPI000D:00/power1";
  snapshot.platform[0].is_counted = true;
  snapshot.platform[1].source = "psu";
  snapshot.platform[1].sensor.source_name = "power_total";
  snapshot.sources.resize(2);
  snapshot.sources[0].name = "rapl";
  snapshot.sources[0].up = true;
  snapshot.sources[1].name = "dcmi";
  const std::string page = LandingPage("1", {}, &snapshot);
  EXPECT_THAT(page, HasSubstr("<td>rapl</td><td>package</td><td class=\"number\">12.50</td><td>/sys/&lt;p&gt;</td>"));
  EXPECT_THAT(page, HasSubstr("<td>acpi</td><td>ACPI000D:00/power1</td><td class=\"number\">–</td>"
                              "<td>counts in the total of the machine</td>"));
  EXPECT_THAT(page, HasSubstr("<td>psu</td><td>power_total</td><td class=\"number\">–</td>"
                              "<td>another meter gives the total</td>"));
  EXPECT_THAT(page, HasSubstr("<td>dcmi</td><td></td><td class=\"number\">–</td><td>gives no reading</td>"));
}

}  // namespace
}  // namespace kepler::web
