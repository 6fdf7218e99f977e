#pragma once
// Percent encoding of URLs (RFC 3986, section 2.1). Pure.
#include <optional>
#include <string>
#include <string_view>

namespace kepler {

/// Replaces each byte by %XX, except letters, digits, "-", ".", "_", "~" and those in `plain`.
[[nodiscard]] std::string PercentEncode(std::string_view text, std::string_view plain = "");

/// Replaces each %XX by its byte. Returns nothing if a % is not followed by two hexadecimal digits.
[[nodiscard]] std::optional<std::string> PercentDecode(std::string_view text);
/// The same, but a % without two hexadecimal digits stays.
[[nodiscard]] std::string PercentDecodeLenient(std::string_view text);

}  // namespace kepler
