#pragma once
// Cells of CSV (RFC 4180). Pure.
#include <string>
#include <string_view>

namespace kepler::lab::dataset {

/// `text` as a cell: in quotes where it needs them.
[[nodiscard]] std::string CsvCell(std::string_view text);

}  // namespace kepler::lab::dataset
