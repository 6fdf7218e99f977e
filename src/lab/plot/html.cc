#include <fmt/format.h>

#include <algorithm>

#include "lab/plot/render.h"

namespace kepler::lab::plot {
namespace {

constexpr std::string_view kStyle =
    "body{font-family:sans-serif;color:#282828;margin:0 auto;max-width:1200px;padding:1em}"
    "svg{width:100%;height:auto}"
    "table{border-collapse:collapse;margin:1.5em 0}"
    "caption{font-weight:bold;text-align:left;padding:.3em 0}"
    "th,td{border-bottom:1px solid #e1e1e1;padding:.3em .9em;text-align:right}"
    "th:first-child,td:first-child{text-align:left}";

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string Row(const std::vector<std::string>& cells, std::string_view tag) {
  std::string out = "<tr>";
  for (const std::string& cell : cells) out += fmt::format("<{0}>{1}</{0}>", tag, Escaped(cell));
  return out + "</tr>\n";
}

std::string SheetHtml(const Sheet& sheet) {
  std::string out = fmt::format("<table>\n<caption>{}</caption>\n<thead>{}</thead>\n<tbody>\n", Escaped(sheet.caption),
                                Row(sheet.head, "th"));
  for (const auto& row : sheet.rows) out += Row(row, "td");
  return out + "</tbody>\n</table>\n";
}

/// Ids count in the whole page, and every drawing of Cairo has the same ones.
std::string WithOwnIds(std::string_view svg, size_t number) {
  std::string out;
  while (!svg.empty()) {
    size_t end = std::string_view::npos;
    for (const std::string_view mark : {"id=\"", "href=\"#", "url(#"})
      if (const size_t found = svg.find(mark); found != std::string_view::npos)
        end = std::min(end, found + mark.size());
    out += svg.substr(0, end);
    if (end == std::string_view::npos) break;
    out += fmt::format("d{}-", number);
    svg.remove_prefix(end);
  }
  return out;
}

std::string SectionHtml(std::string_view title, const Section& section, size_t number) {
  std::string out = Figure(section.svg, title, number);
  for (const Sheet& sheet : section.sheets) out += SheetHtml(sheet);
  return out;
}

}  // namespace

std::string Figure(std::string_view svg, std::string_view label, size_t number) {
  if (const size_t begin = svg.find("<svg"); begin != std::string_view::npos) svg.remove_prefix(begin);
  if (svg.empty()) return {};
  return fmt::format("<div role=\"img\" aria-label=\"{}\">\n{}</div>\n", Escaped(label), WithOwnIds(svg, number));
}

std::string HtmlPage(std::string_view title, const std::vector<Section>& sections) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>{}</style>\n"
      "</head>\n<body>\n",
      Escaped(title), kStyle);
  for (size_t i = 0; i < sections.size(); ++i) out += SectionHtml(title, sections[i], i);
  return out + "</body>\n</html>\n";
}

}  // namespace kepler::lab::plot
