#pragma once
// A table in a frame of box-drawing characters.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kepler::console {

/// Returns `text` on one line of at most `max` columns (at least 1). Characters without a known fixed width (controls,
/// combining marks, right-to-left scripts) become '?'. A cut text ends in '…'. Always valid UTF-8.
[[nodiscard]] std::string Printable(std::string_view text, size_t max);

/// Returns the number of terminal columns of a Printable text. East Asian wide characters and emoji take two columns.
[[nodiscard]] size_t Columns(std::string_view printable);

/// Returns `value` with that many decimals. A small value that would be shown as 0 becomes "<0.01", with two decimals.
[[nodiscard]] std::string DecimalText(double value, int decimals);

enum class Align : uint8_t { kLeft, kRight };

struct Column {
  std::string header;  // centred
  Align align = Align::kRight;
};

/// Every row has one Printable cell per column. Each line ends with a newline.
[[nodiscard]] std::string DrawTable(const std::vector<Column>& columns,
                                    const std::vector<std::vector<std::string>>& rows);

}  // namespace kepler::console
