#pragma once
// Text that cannot break a frame on a terminal.
#include <cstddef>
#include <string>
#include <string_view>

namespace kepler::console {

/// `text` on one line of at most `most` columns (at least 1). Characters not known to take a fixed place (controls,
/// combining marks, right-to-left scripts) become '?'; a cut ends in '…'. Always valid UTF-8.
[[nodiscard]] std::string Printable(std::string_view text, size_t most);

/// Columns that Printable text takes on a terminal: East Asian wide characters and emoji take two.
[[nodiscard]] size_t Columns(std::string_view printable);

}  // namespace kepler::console
