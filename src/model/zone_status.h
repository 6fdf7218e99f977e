#pragma once
// How the model that a zone goes by is shown to whoever reads the agent.
#include <optional>
#include <string_view>

#include "model/power_model.h"
#include "snapshot/status.h"

namespace kepler::model {

/// As labels have it. `source`: a path, a URL or "built-in"; `expected`: as in Choice; `only_load`: its watts are only
/// what load adds, here.
[[nodiscard]] snapshot::ZoneModel StatusOf(const PowerModel& model, const ComponentModel& of, std::string_view source,
                                           const std::optional<Accuracy>& expected, bool only_load);

}  // namespace kepler::model
