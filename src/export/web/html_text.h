#pragma once
// Text in HTML pages. Pure.
#include <cstddef>
#include <string>
#include <string_view>

namespace kepler::web {

inline constexpr size_t kMaxText = 1000;

/// For the content of an element or an attribute in quotes: valid UTF-8, escaped, cut after kMaxText bytes. Control
/// characters become U+FFFD.
[[nodiscard]] std::string EscapeHtml(std::string_view text);

/// Watts or joules for people: "0.01", "12.3", "1234".
[[nodiscard]] std::string ShortNumber(double value);

}  // namespace kepler::web
