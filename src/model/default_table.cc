#include "model/default_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/parse.h"

namespace kepler::model {
namespace {

using Row = DefaultTable::Row;

constexpr std::string_view kHeader =
    "term,kind,vendor,year,names,cpuid,centre,min,max,cores_per_chip,types,rows,mape,load_0,load_10,load_20,load_30,"
    "load_40,load_50,load_60,load_70,load_80,load_90,load_100";
constexpr size_t kCells = 13 + kLoadLevels;
struct Column {
  enum : size_t {
    kTerm,
    kKind,
    kVendor,
    kYear,
    kNames,
    kCpuid,
    kCentre,
    kMin,
    kMax,
    kCores,
    kTypes,
    kRows,
    kMape,
    kLoad0
  };
};
using Cells = std::array<std::string_view, kCells>;

std::optional<Cells> Split(std::string_view line) {
  Cells cells;
  Splitter splitter(line, ',');
  for (std::string_view& cell : cells) {
    const auto next = splitter.Next();
    if (!next) return std::nullopt;
    cell = *next;
  }
  if (splitter.Next()) return std::nullopt;
  return cells;
}

/// NaN if the cell is not a number.
double NumberOf(std::string_view cell) {
  return ParseNumber<double>(cell).value_or(std::numeric_limits<double>::quiet_NaN());
}

Levels WeightsOf(const Cells& cells) {
  Levels weights;
  for (size_t level = 0; level < kLoadLevels; ++level) weights[level] = NumberOf(cells[Column::kLoad0 + level]);
  return weights;
}

bool IsFinite(double a, double b, double c, const Levels& weights) {
  const auto finite = [](double value) { return std::isfinite(value); };
  return finite(a) && finite(b) && finite(c) && std::ranges::all_of(weights, finite);
}

Row RowOf(const Cells& cells) {
  return {.name = cells[Column::kTerm],
          .vendor = cells[Column::kVendor],
          .year = NumberOf(cells[Column::kYear]),
          .names = cells[Column::kNames],
          .cpuid = cells[Column::kCpuid],
          .cores_per_chip = NumberOf(cells[Column::kCores]),
          .rows = ParseNumber<uint64_t>(cells[Column::kRows]).value_or(0),
          .mape = NumberOf(cells[Column::kMape]),
          .weights = WeightsOf(cells)};
}

/// Returns false if the line is not valid.
bool Add(const Cells& cells, DefaultTable& table) {
  if (cells[Column::kKind] == "number") {
    const DefaultTable::Number number{.centre = NumberOf(cells[Column::kCentre]),
                                      .min = NumberOf(cells[Column::kMin]),
                                      .max = NumberOf(cells[Column::kMax]),
                                      .weights = WeightsOf(cells)};
    const size_t at = table.numbers.size();
    if (at == kNumberNames.size() || cells[Column::kTerm] != kNumberNames[at]) return false;
    table.numbers.push_back(number);
    return number.min <= number.max && IsFinite(number.centre, number.min, number.max, number.weights);
  }
  const Row row = RowOf(cells);
  if (!IsFinite(row.year, row.cores_per_chip, row.mape, row.weights)) return false;
  if (cells[Column::kKind] == "base")
    table.all = row;
  else if (cells[Column::kKind] == "vendor")
    table.vendors.push_back(row);
  else if (cells[Column::kKind] == "processors")
    table.processors.push_back(row);
  else
    return false;
  return true;
}

}  // namespace

Result<DefaultTable> ReadDefaultTable(std::string_view text) {
  DefaultTable table;
  size_t number = 0;
  bool has_header = false;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    ++number;
    if (line->empty() || line->starts_with('#')) continue;
    if (!has_header) {
      has_header = *line == kHeader;
      if (!has_header) return Fail(ErrorKind::kMalformed, fmt::format("line {}: not the expected header", number));
      continue;
    }
    const auto cells = Split(*line);
    if (!cells || !Add(*cells, table))
      return Fail(ErrorKind::kMalformed, fmt::format("line {}: not a row of the default model", number));
  }
  if (table.numbers.size() != kNumberNames.size() || table.all.rows == 0)
    return Fail(ErrorKind::kMalformed, "rows of the default model are missing");
  return table;
}

}  // namespace kepler::model
