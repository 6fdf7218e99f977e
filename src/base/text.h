#pragma once
// Makes output text valid UTF-8 and bounded, and suggests the nearest name.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kepler {

/// Returns `bytes` as valid UTF-8 of at most `max` bytes. Each byte of an invalid sequence (overlong, surrogates, >
/// U+10FFFF, cut) becomes U+FFFD. Control characters stay (exporters escape them). A cut is always between characters.
[[nodiscard]] std::string SanitizeUtf8(std::string_view bytes, size_t max);

/// Returns true if all of `bytes` is well-formed UTF-8.
[[nodiscard]] bool IsValidUtf8(std::string_view bytes);

/// Maximum length of a label value.
inline constexpr size_t kMaxLabelBytes = 255;
/// Applies SanitizeUtf8 with at most `max` bytes, for a label value. Control characters become U+FFFD too, because
/// terminals and line-based tools read the pages. The line feed stays, because the text formats escape it. Paths may
/// have 4 kB, and every series of the workload repeats its path.
[[nodiscard]] std::string LabelText(std::string_view bytes, size_t max = kMaxLabelBytes);

/// Parses YAML 1.1's words for true and false, in any case.
[[nodiscard]] std::optional<bool> ParseBool(std::string_view text);

struct Character {
  char32_t code;
  size_t bytes;
};
/// Returns the first character of valid, non-empty UTF-8.
[[nodiscard]] Character FirstCharacter(std::string_view text);

/// Returns true if a terminal may interpret the character: C0, DEL and C1, separators of lines and paragraphs, and
/// characters that change the text direction.
[[nodiscard]] bool IsControl(char32_t c);

/// Escapes `text` for a terminal, so that no configuration can move the cursor or reorder a line. Controls become \xNN
/// or \uNNNN; bytes that are not UTF-8 become \xNN.
[[nodiscard]] std::string EscapeControls(std::string_view text);

/// Returns `text` in quotes, as a string of JSON and of YAML. Controls are escaped; invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string QuoteJson(std::string_view text);

/// Returns the name in `known` nearest to `name` (edit distance at most a third of its length, at least 1), or "".
[[nodiscard]] std::string_view NearestName(std::string_view name, std::span<const std::string_view> known);

/// Returns the text with ASCII letters in lower case; other bytes are unchanged.
[[nodiscard]] std::string ToLowerAscii(std::string_view text);

/// Returns true if `text` contains a secret: PEM text (its header) or a bcrypt hash.
[[nodiscard]] bool LooksSecret(std::string_view text);

/// Returns SanitizeUtf8(text, max), or "(not shown)" for a text that looks secret.
[[nodiscard]] std::string ShowUnlessSecret(std::string_view text, size_t max);

/// Returns the reason why `text` cannot be the name of a file or directory, without quoting it; "" for a valid name.
[[nodiscard]] std::string_view WhyNoPath(std::string_view text);

}  // namespace kepler
