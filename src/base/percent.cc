#include "base/percent.h"

#include <fmt/format.h>

#include <utility>

#include "base/parse.h"

namespace kepler {
namespace {

/// Sets `is_valid` to false if a % has no two hexadecimal digits. Such a % stays.
std::string Decode(std::string_view text, bool& is_valid) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    decoded += text[i];
    if (text[i] != '%') continue;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto byte = digits.size() == 2 ? ParseNumber<unsigned char>(digits, 16) : std::nullopt;
    is_valid &= byte.has_value();
    if (!byte) continue;
    decoded.back() = static_cast<char>(*byte);
    i += 2;
  }
  return decoded;
}

}  // namespace

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
  bool is_valid = true;
  std::string decoded = Decode(text, is_valid);
  return is_valid ? std::optional(std::move(decoded)) : std::nullopt;
}

std::string PercentDecodeLenient(std::string_view text) {
  bool is_valid = true;
  return Decode(text, is_valid);
}

}  // namespace kepler
