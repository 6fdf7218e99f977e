#pragma once
// One table of numbers with named columns, from CSV text. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::lab::training {

inline constexpr size_t kMaxCells = size_t{1} << 27;

/// Columns keep their text until they are asked for: what a model does not use may hold anything.
class Table {
 public:
  /// RFC 4180 in UTF-8, with or without byte order mark: comma, quotes, CRLF or LF, a header with unique names (blanks
  /// around them are not part of them, and one may be empty, as of an index). Empty lines are skipped.
  /// kMalformed, with the line: a row of another length, an unpaired quote, no row. kInvalid: more than 4 GiB, or more
  /// than `max_cells` cells (8 bytes each besides the text).
  [[nodiscard]] static Result<Table> ReadCsv(std::string text, size_t max_cells = kMaxCells);

  [[nodiscard]] size_t rows() const { return lines_.size(); }
  /// Where a row begins; the first line is 1.
  [[nodiscard]] size_t LineOf(size_t row) const { return lines_[row]; }
  [[nodiscard]] std::span<const std::string> names() const { return names_; }
  /// By its name, or by another age of it (model::CanonicalFeature); a column that is there under both names is an
  /// error.
  [[nodiscard]] Result<std::optional<size_t>> Find(std::string_view name) const;
  /// Every value finite, else kMalformed with line, column and what stands there; an empty cell, "NaN" and "inf" are
  /// such. Blanks around a number are skipped.
  [[nodiscard]] Result<std::vector<double>> Numbers(size_t column) const;
  /// The same, but an empty cell is NaN.
  [[nodiscard]] Result<std::vector<double>> NumbersAndGaps(size_t column) const;
  /// As it stands (a machine's name). Valid as long as the table.
  [[nodiscard]] std::vector<std::string_view> Texts(size_t column) const;

 private:
  friend class CsvReader;
  /// Of text_, without its quotes: 32 bits each, since there are millions.
  struct Cell {
    uint32_t begin;
    uint32_t size;
  };
  [[nodiscard]] std::string_view Text(size_t row, size_t column) const;
  /// `gap`: the value of an empty cell; without it an empty cell is an error.
  [[nodiscard]] Result<std::vector<double>> Read(size_t column, std::optional<double> gap) const;

  std::string text_;
  std::vector<std::string> names_;
  std::vector<Cell> cells_;      // row-major, without the header
  std::vector<uint32_t> lines_;  // where each row begins, the first line being 1
};

}  // namespace kepler::lab::training
