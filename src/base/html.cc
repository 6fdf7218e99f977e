#include "base/html.h"

#include "base/text.h"

namespace kepler {

std::string EscapeHtml(std::string_view text, size_t max) {
  std::string out;
  for (const char c : LabelText(text, max)) {
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

std::string EscapeName(std::string_view name) {
  std::string out;
  char before = ' ';
  for (const char c : EscapeHtml(name)) {  // no escape sequence has one of these places
    const bool is_hump = c >= 'A' && c <= 'Z' && before >= 'a' && before <= 'z';
    if (is_hump || before == '_' || before == '-' || before == '/') out += "<wbr>";
    out += c;
    before = c;
  }
  return out;
}

}  // namespace kepler
