#pragma once
// Text that leaves the program: valid UTF-8, bounded. Text that helps people: the nearest name.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kepler {

/// `bytes` as valid UTF-8 of at most `max` bytes. Invalid sequences (overlong, surrogates, > U+10FFFF, cut) become
/// U+FFFD, one per byte; control characters stay (exporters escape). A cut falls on a character border.
[[nodiscard]] std::string SanitizeUtf8(std::string_view bytes, size_t max);

/// Whether all of `bytes` is well-formed UTF-8.
[[nodiscard]] bool IsValidUtf8(std::string_view bytes);

/// Of the value of a label.
inline constexpr size_t kMaxLabelBytes = 255;
/// SanitizeUtf8 to at most `max` bytes, for the value of a label; control characters but the line feed, which the text
/// formats escape, become U+FFFD too: pages are read on terminals and by line-based tools. Paths may have 4 kB, and
/// each is repeated in every series of its workload.
[[nodiscard]] std::string LabelText(std::string_view bytes, size_t max = kMaxLabelBytes);

/// The words of YAML 1.1 for true and false, in any case.
[[nodiscard]] std::optional<bool> ParseBool(std::string_view text);

struct Character {
  char32_t code;
  size_t bytes;
};
/// The first character of valid, non-empty UTF-8.
[[nodiscard]] Character FirstCharacter(std::string_view text);

/// Whether a terminal may obey the character instead of showing it: C0, DEL and C1, the separators of lines and
/// paragraphs, and what turns the direction of text.
[[nodiscard]] bool IsControl(char32_t c);

/// `text` for a terminal, so that nobody's configuration can move the cursor or reorder a line: controls as \xNN or
/// \uNNNN, bytes that are no UTF-8 as \xNN.
[[nodiscard]] std::string EscapeControls(std::string_view text);

/// The name in `known` nearest to `name` (edit distance at most a third of its length, at least 1), or "".
[[nodiscard]] std::string_view NearestName(std::string_view name, std::span<const std::string_view> known);

/// Lower-case ASCII; other bytes unchanged.
[[nodiscard]] std::string ToLowerAscii(std::string_view text);

/// Whether `text` has something in it that is kept secret: PEM text (its header) or a bcrypt hash.
[[nodiscard]] bool LooksSecret(std::string_view text);

/// SanitizeUtf8(text, max), or "(not shown)" in place of what looks secret.
[[nodiscard]] std::string ShowUnlessSecret(std::string_view text, size_t max);

/// Why `text` cannot be meant as the name of a file or directory, without quoting it; "" where it can.
[[nodiscard]] std::string_view WhyNoPath(std::string_view text);

}  // namespace kepler
