#pragma once
// The table of the shipped model (data/default-model.csv, part of the program): weights of a machine's attributes for
// the logarithm of its wall power, at 11 load levels. tools/fit_default_model.py writes the file. Pure.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/machine_info.h"
#include "base/result.h"

namespace kepler::model {

/// Number of load levels: 0 %, 10 %, ... 100 %.
inline constexpr size_t kLoadLevels = 11;
/// One value for each load level.
using Levels = std::array<double, kLoadLevels>;

/// Texts belong to the text of the table.
struct DefaultTable {
  /// An attribute that is a number. A value outside the range of the data is moved to the edge of the range.
  struct Number {
    double centre = 0;  // subtracted first; an unknown attribute counts as the centre
    double min = 0;
    double max = 0;
    Levels weights{};
  };
  /// Processors of one generation, of one vendor, or all.
  struct Row {
    std::string_view name;    // "AMD Zen 3"
    std::string_view vendor;  // "amd"; empty in the row of all
    double year = 0;
    std::string_view names;     // patterns of normalised processor names, separated by |
    std::string_view cpuid;     // family/models/feature of x86, separated by |: "25/0-15", "6/85/avx512_vnni"
    double cores_per_chip = 0;  // geometric mean
    uint64_t rows = 0;          // measurements of the error
    double mape = 0;            // error on server types outside the training data, in percent
    Levels weights{};
  };
  Row all;
  std::vector<Number> numbers;  // in the order of kNumberNames
  std::vector<Row> vendors;
  std::vector<Row> processors;
};

/// Order of the numbers in the table. Logarithms are natural; frequencies are in MHz, memory is in GiB. The year is
/// (year − 2015) ÷ 5.
inline constexpr std::array<std::string_view, 6> kNumberNames = {
    "log_cores_per_chip", "log_chips", "log_memory_per_core", "log_frequency", "year", "year_squared"};

/// Errors: kMalformed with the line.
[[nodiscard]] Result<DefaultTable> ReadDefaultTable(std::string_view text);

/// Text of the table that is part of the program.
[[nodiscard]] std::string_view ShippedTableText();

/// Rows for one processor.
struct ProcessorRows {
  const DefaultTable::Row* row = nullptr;     // most specific: of the generation, else of the vendor, else of all
  const DefaultTable::Row* vendor = nullptr;  // null if the vendor is unknown
};
/// x86 processors are found by their numbers, all others and unknown numbers by `name`, which is normalised
/// (machine.h).
[[nodiscard]] ProcessorRows FindProcessor(const DefaultTable& table, const CpuId& cpu, std::string_view name);

}  // namespace kepler::model
