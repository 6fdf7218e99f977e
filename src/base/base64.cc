#include "base/base64.h"

#include <array>
#include <cstdint>

namespace kepler {

std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::array<uint8_t, 256> digit_of;
  digit_of.fill(64);
  for (size_t i = 0; i < kDigits.size(); ++i) digit_of[static_cast<uint8_t>(kDigits[i])] = static_cast<uint8_t>(i);
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

}  // namespace kepler
