#pragma once
// docs/metrics.md, from the table of families.
#include <string>

namespace kepler::prometheus {

[[nodiscard]] std::string MetricsPage();

}  // namespace kepler::prometheus
