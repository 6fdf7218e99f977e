#pragma once
// Text in HTML. Pure.
#include <cstddef>
#include <string>
#include <string_view>

namespace kepler {

/// Returns `text` as text of an element or of a quoted attribute: LabelText of at most `max` bytes, so a page has no
/// control characters; then escaped.
[[nodiscard]] std::string EscapeHtml(std::string_view text, size_t max = size_t{1} << 20);

}  // namespace kepler
