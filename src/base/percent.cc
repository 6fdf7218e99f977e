#include "base/percent.h"

#include <fmt/format.h>

#include "base/parse.h"

namespace kepler {

std::string PercentEncode(std::string_view text, std::string_view plain) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  for (const char c : text)
    if (kPlain.contains(c) || plain.contains(c))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    decoded += text[i];
    if (text[i] != '%') continue;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto byte = ParseNumber<unsigned char>(digits, 16);
    if (!byte || digits.size() < 2) return std::nullopt;
    decoded.back() = static_cast<char>(*byte);
    i += 2;
  }
  return decoded;
}

}  // namespace kepler
