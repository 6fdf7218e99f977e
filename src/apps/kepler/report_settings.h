#pragma once
// Flags and arguments of `kepler report`.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/kepler/report_prometheus.h"
#include "base/build_info.h"
#include "report/energy_report.h"
#include "settings/command_line.h"

namespace kepler::agent {

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
  std::vector<std::string> files{};  // not a flag
};

/// `arguments` begin with the name of the program. kReject: invalid flags, or no source.
[[nodiscard]] settings::Parsed<ReportOptions> ParseReportOptions(std::vector<const char*> arguments,
                                                                 const BuildInfo& build);

}  // namespace kepler::agent
