#include <fmt/format.h>

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

}  // namespace

std::string HtmlPage(std::string_view title, std::string_view svg, const std::vector<Sheet>& sheets) {
  if (const size_t begin = svg.find("<svg"); begin != std::string_view::npos) svg.remove_prefix(begin);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n<style>{1}</style>\n"
      "</head>\n<body>\n<div role=\"img\" aria-label=\"{0}\">\n{2}</div>\n",
      Escaped(title), kStyle, svg);
  for (const Sheet& sheet : sheets) out += SheetHtml(sheet);
  return out + "</body>\n</html>\n";
}

}  // namespace kepler::lab::plot
