#pragma once
// Base64 (RFC 4648, chapter 4). Pure.
#include <optional>
#include <string>
#include <string_view>

namespace kepler {

/// Decodes `text` with its padding. Returns nothing for any other text, such as one with blanks or line ends.
[[nodiscard]] std::optional<std::string> DecodeBase64(std::string_view text);

/// Encodes `bytes`, with padding and without line ends.
[[nodiscard]] std::string EncodeBase64(std::string_view bytes);

}  // namespace kepler
