#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kepler {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Returns the length of the valid UTF-8 character at the start of `s`, 0 if there is no such character (Unicode 15,
/// table 3-7).
size_t ValidPrefix(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(s[i]); };
  const auto continues = [&](size_t i, uint8_t low = 0x80, uint8_t high = 0xBF) {
    return i < s.size() && byte(i) >= low && byte(i) <= high;
  };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
    const uint8_t high = lead == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

void AppendHex(std::string& out, std::string_view prefix, char32_t code, int digits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += prefix;
  while (digits-- > 0) out.push_back(kHex[(code >> (4 * digits)) & 0xF]);
}

/// Replaces invalid bytes, and characters that `replaces` accepts, by U+FFFD.
template <class Replaces>
std::string Clean(std::string_view bytes, size_t max, Replaces replaces) {
  std::string out;
  out.reserve(std::min(bytes.size(), max));
  while (!bytes.empty()) {
    const size_t length = ValidPrefix(bytes);
    const bool bad = length == 0 || replaces(bytes);
    const std::string_view piece = bad ? kReplacement : bytes.substr(0, length);
    if (out.size() + piece.size() > max) break;
    out.append(piece);
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

/// Reads eight bytes at a time. The last eight may overlap those before.
bool IsAscii(std::string_view bytes) {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  const auto word_at = [&](size_t at) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
  };
  uint64_t seen = 0;
  if (bytes.size() < sizeof seen) {
    for (const char byte : bytes) seen |= static_cast<uint8_t>(byte);
    return (seen & kHighBits) == 0;
  }
  const size_t last = bytes.size() - sizeof seen;
  for (size_t at = 0; at < last; at += sizeof seen) seen |= word_at(at);
  return ((seen | word_at(last)) & kHighBits) == 0;
}

}  // namespace

std::string SanitizeUtf8(std::string_view bytes, size_t max) {
  return Clean(bytes, max, [](std::string_view) { return false; });
}

bool IsValidUtf8(std::string_view bytes) {
  if (IsAscii(bytes)) return true;
  while (!bytes.empty()) {
    const size_t length = ValidPrefix(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text.front());
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  auto code = static_cast<char32_t>(lead & (0xFFu >> (bytes + 1)));
  for (size_t i = 1; i < bytes; ++i) code = (code << 6) | (static_cast<uint8_t>(text[i]) & 0x3Fu);
  return {code, bytes};
}

bool IsControl(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  if (c < 0x20 || in(0x7F, 0x9F) || in(0x2028, 0x2029)) return true;
  return c == 0x61C || in(0x200E, 0x200F) || in(0x202A, 0x202E) || in(0x2066, 0x2069);  // Bidi_Control of Unicode 15
}

std::string EscapeControls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t valid = ValidPrefix(text);
    if (valid == 0)
      AppendHex(out, "\\x", static_cast<uint8_t>(text.front()), 2);
    else if (const char32_t code = FirstCharacter(text).code; !IsControl(code))
      out += text.substr(0, valid);
    else
      AppendHex(out, code < 0x80 ? "\\x" : "\\u", code, code < 0x80 ? 2 : 4);
    text.remove_prefix(std::max<size_t>(valid, 1));
  }
  return out;
}

std::string QuoteJson(std::string_view text) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t";
  constexpr std::string_view kLetters = "\"\\nrt";
  std::string out = "\"";
  const std::string valid = SanitizeUtf8(text, std::string::npos);
  for (std::string_view rest = valid; !rest.empty();) {
    const auto [code, bytes] = FirstCharacter(rest);
    if (const size_t at = kEscaped.find(rest.front()); at != std::string_view::npos)
      out += {'\\', kLetters[at]};
    else if (IsControl(code))
      AppendHex(out, "\\u", code, 4);
    else
      out += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  return out += '"';
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string word = ToLowerAscii(text);
  if (word == "true" || word == "yes" || word == "on" || word == "y") return true;
  if (word == "false" || word == "no" || word == "off" || word == "n") return false;
  return std::nullopt;
}

std::string LabelText(std::string_view bytes, size_t max) {
  return Clean(bytes, max, [](std::string_view text) {
    const char32_t code = FirstCharacter(text).code;
    return code != '\n' && IsControl(code);
  });
}

std::string_view NearestName(std::string_view name, std::span<const std::string_view> known) {
  constexpr size_t kLongestName = 100;  // a longer name is not a typo, and its comparison with each name is slow
  std::string_view best;
  if (name.size() > kLongestName) return best;
  size_t best_distance = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string_view candidate : known) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string ToLowerAscii(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool LooksSecret(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMarks = {"-----BEGIN", "$2a$", "$2b$", "$2y$"};
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return text.contains(mark); });
}

std::string ShowUnlessSecret(std::string_view text, size_t max) {
  return LooksSecret(text) ? "(not shown)" : SanitizeUtf8(text, max);
}

std::string_view WhyNoPath(std::string_view text) {
  if (LooksSecret(text))
    return "must be a path, but the value looks like a key, a certificate or a hash (not shown); write it to a file "
           "and use the path of the file";
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, control))
    return "must be a path, but the value contains a control character such as a line break (not shown)";
  return "";
}

}  // namespace kepler
