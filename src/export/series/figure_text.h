#pragma once
// Figures as text for formats that people and programs read: JSON lines, the JSON API, the web page. Pure.
#include <string>

#include "base/clock.h"
#include "base/units.h"

namespace kepler::series {

/// Joules to the microjoule, exactly: "-0.000001", "12.500000".
[[nodiscard]] std::string JoulesText(Energy energy);

/// UTC with milliseconds: "2026-11-27T22:00:00.000Z".
[[nodiscard]] std::string TimeText(WallTime time);

}  // namespace kepler::series
