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
<title>{0}Kepler</title>
<link rel="icon" href="/static/kepler.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/kepler.css">
<script src="/static/kepler.js" defer></script>
</head>
<body>
<main>
<h1>Kepler{1}</h1>
<p class="version">Version {2}</p>
)";

/// A number is right-aligned. On a narrow screen the style sheet shows `header` above the text, in place of the header
/// row.
std::string Cell(std::string_view header, std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
  return fmt::format("<td{} data-header=\"{}\">{}</td>", is_number ? " class=\"number\"" : "", EscapeHtml(header),
                     EscapeHtml(text));
}

std::string Section(const PageTable& table) {
  std::string page = fmt::format(
      "<h2>{0}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table "
      "aria-label=\"{0}\">\n<thead><tr>",
      EscapeHtml(table.title));
  for (const std::string& header : table.headers) page += fmt::format("<th scope=\"col\">{}</th>", EscapeHtml(header));
  page += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    page += "<tr>";
    for (size_t c = 0; c < table.headers.size(); ++c) page += Cell(table.headers[c], row[c]);
    page += "</tr>\n";
  }
  page += "</tbody></table></div>\n";
  for (const std::string& remark : table.remarks) page += fmt::format("<p>{}</p>\n", EscapeHtml(remark));
  return page;
}

}  // namespace

std::string LandingPage(const AgentName& agent, const std::vector<Link>& links, const std::optional<PageTable>& table,
                        std::string_view live) {
  const std::string node = EscapeHtml(agent.node);
  std::string page = fmt::format(kHead, node.empty() ? "" : node + " – ", node.empty() ? "" : " on " + node,
                                 EscapeHtml(agent.version));
  page += live;
  if (table) page += Section(*table);
  page += "<h2>Endpoints</h2>\n<ul>\n";
  for (const Link& link : links)
    page += fmt::format("<li><a href=\"{}\">{}</a> – {}</li>\n", EscapeHtml(link.path), EscapeHtml(link.summary),
                        EscapeHtml(link.description));
  page += "</ul>\n</main>\n</body>\n</html>\n";
  return page;
}

}  // namespace kepler::web
