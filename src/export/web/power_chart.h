#pragma once
// Power of the last hour as an inline SVG: active power on top of idle power, in one zone. Pure. The script of the page
// (page_script.cc) draws the same.
#include <cstddef>
#include <string>

#include "export/api/power_history.h"

namespace kepler::web {

/// `column`: of the zone in `points`. Readable without colours, styles and scripts.
[[nodiscard]] std::string PowerChart(const api::PowerHistory::Points& points, size_t column);

}  // namespace kepler::web
