#pragma once
// Sections of a model's card: its predictions of rows outside the training data, and the decisions about its versions.
// HTML without scripts; every text is escaped. Pure; any thread.
#include <span>
#include <string>
#include <string_view>

#include "model/power_model.h"
#include "modelserver/decision_log.h"

namespace kepler::modelserver {

/// For each component with tested rows: predicted against actual watts as an SVG, and the errors by load. Empty if the
/// model has none.
[[nodiscard]] std::string TestedSection(const model::PowerModel& model);

/// The latest decisions, the newest first. Empty if there are none.
[[nodiscard]] std::string DecisionSection(std::span<const Decision> decisions);

}  // namespace kepler::modelserver
