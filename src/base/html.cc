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

}  // namespace kepler
