#pragma once
// Text that leaves the program: valid UTF-8, bounded. Text that helps people: the nearest name.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kepler {

/// `bytes` as valid UTF-8 of at most `most` bytes. Invalid sequences (overlong, surrogates, > U+10FFFF, cut) become
/// U+FFFD, one per byte; control characters stay (exporters escape). A cut falls on a character border.
[[nodiscard]] std::string SanitizeUtf8(std::string_view bytes, size_t most);

/// Whether all of `bytes` is well-formed UTF-8.
[[nodiscard]] bool IsValidUtf8(std::string_view bytes);

/// SanitizeUtf8 to the bound of a label value. Paths may have 4 kB, and each is repeated in every series of its
/// workload.
[[nodiscard]] std::string LabelText(std::string_view bytes);

/// `text` for a terminal: control characters as \xNN, so that nobody's configuration can move the cursor.
[[nodiscard]] std::string EscapeControls(std::string_view text);

/// The name in `known` nearest to `name` (edit distance at most a third of its length, at least 1), or "".
[[nodiscard]] std::string_view NearestName(std::string_view name, std::span<const std::string_view> known);

/// Lower-case ASCII; other bytes unchanged.
[[nodiscard]] std::string ToLowerAscii(std::string_view text);

}  // namespace kepler
