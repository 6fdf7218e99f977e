#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kepler {
namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::array<uint8_t, 256> digit_of;
  digit_of.fill(64);
  for (size_t i = 0; i < kBase64Digits.size(); ++i)
    digit_of[static_cast<uint8_t>(kBase64Digits[i])] = static_cast<uint8_t>(i);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const uint8_t digit = digit_of[static_cast<uint8_t>(c)];
    if (digit == 64) return std::nullopt;
    bits = bits << 6 | digit;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min<size_t>(bytes.size(), 3))) {
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0);
    for (size_t i = 0; i < 4; ++i) text += i <= bytes.size() ? kBase64Digits[bits >> (18 - 6 * i) & 63] : '=';
  }
  return text;
}

}  // namespace kepler
