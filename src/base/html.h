#pragma once
// Text in HTML. Pure.
#include <cstddef>
#include <string>
#include <string_view>

namespace kepler {

/// Returns `text` as text of an element or of a quoted attribute: LabelText of at most `max` bytes, so a page has no
/// control characters; then escaped.
[[nodiscard]] std::string EscapeHtml(std::string_view text, size_t max = size_t{1} << 20);
/// Same for a long name. A line may end after each "_", "-" and "/" of it, and between "aB".
[[nodiscard]] std::string EscapeName(std::string_view name);

}  // namespace kepler
