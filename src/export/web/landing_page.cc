#include "export/web/landing_page.h"

#include <fmt/format.h>

#include <limits>

#include "base/text.h"

namespace kepler::web {
namespace {

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Kepler</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; }
.version { opacity: .7; margin-top: .2rem; }
li { margin: .4rem 0; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; overflow-wrap: anywhere; }
td.number { text-align: right; }
</style>
</head>
<body>
<h1>Kepler Service</h1>
)";

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : SanitizeUtf8(text, std::numeric_limits<size_t>::max())) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void AddRow(std::string& page, std::string_view meter, std::string_view zone, bool is_known, Power power,
            std::string_view remark) {
  page += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n", Escape(meter),
                      Escape(zone), is_known ? fmt::format("{:.2f}", power.watts()) : "–", Escape(remark));
}

/// The zones of the node, then every sensor of the platform meters, then what cannot be read.
std::string MeterSection(const snapshot::Snapshot& snapshot) {
  std::string page =
      "<h2>Meters</h2>\n<table>\n<tr><th>Meter</th><th>Zone or sensor</th><th>Watts</th><th>Remark</th></tr>\n";
  for (size_t z = 0; z < snapshot.node.size() && z < snapshot.zones.size(); ++z) {
    const status::Zone& zone = snapshot.zones[z];
    AddRow(page, zone.source, zone.name, snapshot.node[z].fresh, snapshot.node[z].power, zone.path);
  }
  for (const status::PlatformReading& reading : snapshot.platform) {
    const status::PlatformSensor& sensor = reading.sensor;
    const std::string_view remark = reading.is_counted ? "counts in the total of the machine"
                                    : sensor.whole     ? "another meter gives the total"
                                                       : "a part of what the meter measures";
    AddRow(page, reading.source, sensor.source_name.empty() ? sensor.source_id : sensor.source_name, reading.fresh,
           reading.power, remark);
  }
  for (const status::SourceStatus& source : snapshot.sources)
    if (!source.up) AddRow(page, source.name, "", false, Power(), "gives no reading");
  return page + "</table>\n<p><code>kepler meters</code> says why a meter is not used.</p>\n";
}

}  // namespace

std::string LandingPage(const std::string& version, const std::vector<Link>& links,
                        const snapshot::Snapshot* snapshot) {
  std::string page(kHead);
  page += fmt::format("<p class=\"version\">Version {}</p>\n<ul>\n", Escape(version));
  for (const Link& link : links)
    page += fmt::format("<li><a href=\"{}\">{}</a> – {}</li>\n", Escape(link.path), Escape(link.summary),
                        Escape(link.description));
  page += "</ul>\n";
  if (snapshot != nullptr) page += MeterSection(*snapshot);
  page += "</body>\n</html>\n";
  return page;
}

}  // namespace kepler::web
