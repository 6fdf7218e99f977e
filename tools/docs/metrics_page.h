#pragma once
// docs/metrics.md, from the table of families.
#include <string>

namespace kepler::docs {

[[nodiscard]] std::string MetricsPage();

}  // namespace kepler::docs
