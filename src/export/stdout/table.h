#pragma once
// A table in a frame of box-drawing characters.
#include <cstdint>
#include <string>
#include <vector>

namespace kepler::console {

enum class Align : uint8_t { kLeft, kRight };

struct Column {
  std::string header;  // centred
  Align align = Align::kRight;
};

/// Every row has one Printable cell per column. Each line ends with a newline.
[[nodiscard]] std::string DrawTable(const std::vector<Column>& columns,
                                    const std::vector<std::vector<std::string>>& rows);

}  // namespace kepler::console
