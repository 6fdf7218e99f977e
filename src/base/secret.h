#pragma once
// Texts that stand where they do not belong, such as a key where the name of its file is due. Messages go to logs, and
// so must not quote them.
#include <cstddef>
#include <string>
#include <string_view>

namespace kepler {

/// Whether `text` has something in it that is kept secret: PEM text (its header) or a bcrypt hash.
[[nodiscard]] bool LooksSecret(std::string_view text);

/// SanitizeUtf8(text, most), or "(not shown)" in place of what looks secret.
[[nodiscard]] std::string ShowUnlessSecret(std::string_view text, size_t most);

/// Why `text` cannot be meant as the name of a file or directory, without quoting it; "" where it can.
[[nodiscard]] std::string_view WhyNoPath(std::string_view text);

}  // namespace kepler
