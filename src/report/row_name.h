#pragma once
// Names of the rows of a report. Pure.
#include <cstddef>
#include <string>
#include <string_view>

#include "report/energy_line.h"
#include "report/energy_report.h"

namespace kepler::report {

/// What a line of a workload adds to: "shop/web-1" for a pod. Processes are added up by their names.
[[nodiscard]] std::string RowName(By by, const EnergyLine& line);
/// The id that RowName() returns for a workload without a name; empty if such a row has no ids.
[[nodiscard]] std::string_view RowId(By by, const EnergyLine& line);

/// Why energy belongs to no row: of unlisted energy by the index of its reason (departed, capped, unseen, outside,
/// unnamed), then unattributed and idle.
[[nodiscard]] std::string_view RestName(size_t index);

}  // namespace kepler::report
