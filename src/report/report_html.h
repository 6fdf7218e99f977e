#pragma once
// A report as one HTML page: energy over time as a chart (SVG), and the table. It needs no other file and no script.
// Every text is escaped. Pure.
#include <string>

#include "report/energy_report.h"
#include "report/report_text.h"

namespace kepler::report {

[[nodiscard]] std::string ReportHtml(const Report& report, const Prices& prices);

}  // namespace kepler::report
