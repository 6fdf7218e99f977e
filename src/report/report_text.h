#pragma once
// A report as text: a table for people, CSV and JSON for programs. Pure.
#include <cstdint>
#include <optional>
#include <string>

#include "report/energy_report.h"

namespace kepler::report {

/// Maximum price of a kWh.
inline constexpr int64_t kMaxPrice = 1'000'000'000;

struct Prices {
  std::optional<double> per_kwh;  // in any currency
  bool has_carbon = false;        // the grams of the report are known
};

/// What a reader must know about the data, one line each, such as times without energy; may be empty. Printable.
[[nodiscard]] std::string ReportNotes(const Report& report);

/// Decimals of costs and of grams of CO2 for people.
inline constexpr int kCostDecimals = 4, kGramDecimals = 3;

/// With the notes.
[[nodiscard]] std::string ReportTable(const Report& report, const Prices& prices);
/// Columns kind, name, joules, kwh, share, and with prices cost and co2_g. Texts are quoted (RFC 4180), and no
/// spreadsheet takes them for formulas.
[[nodiscard]] std::string ReportCsv(const Report& report, const Prices& prices);
/// One object on one line, with its end.
[[nodiscard]] std::string ReportJson(const Report& report, const Prices& prices);

/// From 0 to 1.
[[nodiscard]] double ShareOf(const Amount& amount, const Report& report);

}  // namespace kepler::report
