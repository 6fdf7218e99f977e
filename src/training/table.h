#pragma once
// One table of numbers with named columns, from CSV text. Pure.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::training {

/// Columns keep their text until they are asked for: what a model does not use may hold anything.
class Table {
 public:
  /// RFC 4180: comma, quotes, CRLF or LF, a header with unique names. Rows of another length are kMalformed with their
  /// line.
  [[nodiscard]] static Result<Table> ReadCsv(std::string text);

  [[nodiscard]] size_t rows() const;
  [[nodiscard]] std::span<const std::string> names() const;
  /// By its name, or by another age of it (model::CanonicalFeature); a column that is there under both names is an
  /// error.
  [[nodiscard]] Result<std::optional<size_t>> Find(std::string_view name) const;
  /// Every value finite, else kMalformed with line, column and what stands there; an empty cell, "NaN" and "inf" are
  /// such.
  [[nodiscard]] Result<std::vector<double>> Numbers(size_t column) const;
  /// As it stands (a machine's name).
  [[nodiscard]] std::vector<std::string_view> Texts(size_t column) const;

 private:
  std::string text_;
  std::vector<std::string> names_;
};

}  // namespace kepler::training
