#pragma once
// Builds the exported status of the model of a zone.
#include <optional>
#include <string_view>

#include "model/power_model.h"
#include "status/estimate_status.h"

namespace kepler::model {

/// Basis of an error that was measured on the training machine only, which is not this machine.
inline constexpr std::string_view kTrainingMachine = "training_machine";

/// The error that a component states, and the machines on which it was measured.
struct StatedError {
  /// Empty: the file states no error. At least one of MAE and MAPE is above 0; 0 means that it is unknown.
  std::optional<Accuracy> accuracy;
  std::string_view basis;  // "same_machine", "other_machines", kTrainingMachine; "" without an error
};

/// Prefers the error of this machine, then that of machines outside the training data. The last resort is the error of
/// the training machine: here it is a lower limit. An error of 0 W and 0 % is not stated: no row was metered. `match`:
/// as in StatusOf().
[[nodiscard]] StatedError ErrorOf(const ComponentModel& of, std::string_view match);

/// Returns the label values. `source`: a path, a URL or "built-in". `match`: Name(Match) or "built_in". `only_load`:
/// the model is used here for dynamic power only.
[[nodiscard]] status::ZoneModel StatusOf(const PowerModel& model, const ComponentModel& of, std::string_view source,
                                         std::string_view match, bool only_load);

}  // namespace kepler::model
