#include "export/web/html_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/html.h"

namespace kepler::web {

std::string EscapeHtml(std::string_view text) { return kepler::EscapeHtml(text, kMaxText); }

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace kepler::web
