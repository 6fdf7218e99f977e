#include "base/secret.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace kepler {

bool LooksSecret(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMarks = {"-----BEGIN", "$2a$", "$2b$", "$2y$"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return text.contains(mark); });
}

std::string ShowUnlessSecret(std::string_view text, size_t most) {
  return LooksSecret(text) ? "(not shown)" : SanitizeUtf8(text, most);
}

std::string_view WhyNoPath(std::string_view text) {
  if (LooksSecret(text))
    return "must be a path, and what stands here looks like the text of a key, a certificate or a hash (not shown); "
           "write it into a file and name that";
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, control))
    return "must be a path, and has a line break or another control character in it (not shown)";
  return "";
}

}  // namespace kepler
