#include "export/web/landing_page.h"

#include <fmt/format.h>

#include "export/web/html_text.h"

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
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 3rem auto; padding: 0 1rem; }
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

/// A number is right-aligned.
std::string Cell(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  return fmt::format("<td{}>{}</td>", is_number ? " class=\"number\"" : "", EscapeHtml(text));
}

std::string Section(const PageTable& table) {
  std::string page = fmt::format("<h2>{}</h2>\n<table>\n<tr>", EscapeHtml(table.title));
  for (const std::string& header : table.headers) page += fmt::format("<th>{}</th>", EscapeHtml(header));
  page += "</tr>\n";
  for (const auto& row : table.rows) {
    page += "<tr>";
    for (const std::string& cell : row) page += Cell(cell);
    page += "</tr>\n";
  }
  page += "</table>\n";
  for (const std::string& remark : table.remarks) page += fmt::format("<p>{}</p>\n", EscapeHtml(remark));
  return page;
}

}  // namespace

std::string LandingPage(const std::string& version, const std::vector<Link>& links,
                        const std::optional<PageTable>& table) {
  std::string page(kHead);
  page += fmt::format("<p class=\"version\">Version {}</p>\n<ul>\n", EscapeHtml(version));
  for (const Link& link : links)
    page += fmt::format("<li><a href=\"{}\">{}</a> – {}</li>\n", EscapeHtml(link.path), EscapeHtml(link.summary),
                        EscapeHtml(link.description));
  page += "</ul>\n";
  if (table) page += Section(*table);
  page += "</body>\n</html>\n";
  return page;
}

}  // namespace kepler::web
