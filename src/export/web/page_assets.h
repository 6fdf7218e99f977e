#pragma once
// The script, the style sheet and the icon of the page at "/", which the program contains, and the headers that forbid
// all others.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kepler::web {

inline constexpr std::string_view kScriptPath = "/static/kepler.js";
inline constexpr std::string_view kStylePath = "/static/kepler.css";
inline constexpr std::string_view kIconPath = "/static/kepler.svg";
[[nodiscard]] std::string_view PageIcon();  // SVG
[[nodiscard]] std::string_view PageScript();
[[nodiscard]] std::string_view PageStyle();
/// Content-Security-Policy and others, for the page and its files.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> PageHeaders();

}  // namespace kepler::web
