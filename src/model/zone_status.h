#pragma once
// Builds the exported status of the model of a zone.
#include <optional>
#include <string_view>

#include "model/power_model.h"
#include "status/estimate_status.h"

namespace kepler::model {

/// Returns the label values. `source`: a path, a URL or "built-in". `match`: Name(Match) or "built_in". `expected`: as
/// in Choice. `only_load`: the model is used here for dynamic power only.
[[nodiscard]] status::ZoneModel StatusOf(const PowerModel& model, const ComponentModel& of, std::string_view source,
                                         std::string_view match, const std::optional<Accuracy>& expected,
                                         bool only_load);

}  // namespace kepler::model
