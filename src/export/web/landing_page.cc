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

}  // namespace

std::string LandingPage(const std::string& version, const std::vector<Link>& links) {
  std::string page(kHead);
  page += fmt::format("<p class=\"version\">Version {}</p>\n<ul>\n", Escape(version));
  for (const Link& link : links)
    page += fmt::format("<li><a href=\"{}\">{}</a> – {}</li>\n", Escape(link.path), Escape(link.summary),
                        Escape(link.description));
  page += "</ul>\n</body>\n</html>\n";
  return page;
}

}  // namespace kepler::web
