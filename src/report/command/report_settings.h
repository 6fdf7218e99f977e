#pragma once
// Flags and arguments of `kepler report`.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/build_info.h"
#include "base/clock.h"
#include "report/command/report_prometheus.h"
#include "report/energy_line.h"
#include "report/energy_report.h"
#include "settings/command_line.h"

namespace kepler::report::command {

enum class ReportFormat : uint8_t { kText, kCsv, kJson, kHtml };

struct ReportOptions {
  report::By by = report::By::kNamespace;
  std::vector<std::string> zones{};
  std::string from{};
  std::string to{};
  ReportFormat format = ReportFormat::kText;
  std::string output{};
  std::string price{};
  std::string carbon{};
  int64_t top = 0;
  PrometheusAccess prometheus{};

  // Not flags: the arguments, and the values of from, to, price and carbon.
  std::vector<std::string> files{};
  std::optional<report::Milliseconds> begin{}, end{};
  std::optional<double> price_per_kwh{};
  std::optional<double> grams_per_kwh{};  // empty: `carbon` is the path to a file, if it is not empty
};

/// `arguments` begin with the name of the program. Durations of --from and --to count back from `now`. kReject: invalid
/// flags.
[[nodiscard]] settings::Parsed<ReportOptions> ParseReportOptions(std::vector<const char*> arguments,
                                                                 const BuildInfo& build, WallTime now);

}  // namespace kepler::report::command
