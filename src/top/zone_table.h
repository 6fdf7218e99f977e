#pragma once
// The zones of the node: power, energy, cost and carbon since the start of the agent, and a sparkline. Pure.
#include <cstddef>
#include <vector>

#include "top/look.h"
#include "top/readings.h"

namespace kepler::top {

/// A header and a line for each of the first `max_zones` zones; without a zone, a line for each meter with the reason.
[[nodiscard]] std::vector<Line> ZoneLines(const Readings& readings, const PowerHistory& history, size_t width,
                                          size_t max_zones, const Look& look);

}  // namespace kepler::top
