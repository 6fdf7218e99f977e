#include "export/web/html_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace kepler::web {

std::string EscapeHtml(std::string_view text) {
  std::string out;
  for (const char c : LabelText(text, kMaxText)) {
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

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace kepler::web
