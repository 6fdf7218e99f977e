#include "model/default_table.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

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

/// Returns true if `number` is in a range such as "85" or "0-4". An empty range contains every number.
bool IsIn(std::string_view range, uint32_t number) {
  if (range.empty()) return true;
  Splitter ends(range, '-');
  const auto first = ParseNumber<uint32_t>(*ends.Next());
  const auto last = ParseNumber<uint32_t>(ends.Next().value_or(range));
  return first && last && number >= *first && number <= *last;
}

/// Calls `matches` for each part of a list until it returns true.
bool AnyPart(std::string_view list, auto matches) {
  Splitter parts(list, '|');
  while (const auto part = parts.Next())
    if (!part->empty() && matches(*part)) return true;
  return false;
}

bool HasCpuid(const Row& row, const CpuId& cpu) {
  return AnyPart(row.cpuid, [&](std::string_view part) {
    Splitter fields(part, '/');
    const bool numbers = IsIn(*fields.Next(), cpu.family) && IsIn(fields.Next().value_or(""), cpu.model);
    const auto feature = fields.Next();
    return numbers && (!feature || std::ranges::find(cpu.features, *feature) != cpu.features.end());
  });
}

bool HasName(const Row& row, const std::string& name) {
  return AnyPart(row.names,
                 [&](std::string_view part) { return fnmatch(std::string(part).c_str(), name.c_str(), 0) == 0; });
}

std::string_view VendorOf(const CpuId& cpu, std::string_view name) {
  if (cpu.vendor == "GenuineIntel") return "intel";
  if (cpu.vendor == "AuthenticAMD" || cpu.vendor == "HygonGenuine") return "amd";
  if (cpu.vendor.starts_with("0x")) return "arm";  // the implementer, which only Arm has
  for (const std::string_view vendor : {"intel", "amd", "arm"})
    if (name.contains(vendor)) return vendor;
  return {};
}

/// Returns nullptr if no row matches.
const Row* Find(const std::vector<Row>& rows, auto matches) {
  const auto row = std::ranges::find_if(rows, matches);
  return row == rows.end() ? nullptr : &*row;
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

ProcessorRows FindProcessor(const DefaultTable& table, const CpuId& cpu, std::string_view name) {
  std::string_view vendor = VendorOf(cpu, name);
  const Row* row = nullptr;
  if (!cpu.vendor.empty())
    row = Find(table.processors, [&](const Row& of) { return of.vendor == vendor && HasCpuid(of, cpu); });
  if (row == nullptr) row = Find(table.processors, [&](const Row& of) { return HasName(of, std::string(name)); });
  if (row != nullptr) vendor = row->vendor;
  const Row* const maker = Find(table.vendors, [&](const Row& of) { return of.vendor == vendor; });
  if (row == nullptr) row = maker != nullptr ? maker : &table.all;
  return {.row = row, .vendor = maker};
}

}  // namespace kepler::model
