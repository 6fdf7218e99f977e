#pragma once
// The weight files of Kepler 0.6 and 0.7: {component: {"All_Weights": {...}}}, spec of the published model database.
// Pure.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "model/machine.h"
#include "model/power_model.h"

namespace kepler::model {

/// `name` decides the formula where the text has no "model_name" itself ("LogisticRegressionTrainer_0": the part before
/// the last '_'); an unknown trainer is linear, and linear with CurveFit_Weights is an error. Curves use the feature
/// that training used, by the features of the file (cpu_instructions of CounterOnly ...), not the first one.
[[nodiscard]] Result<PowerModel> ReadWeightsJson(std::string_view text, std::string_view name);
[[nodiscard]] Result<PowerModel> ReadWeightsJson(const json::Value& document, std::string_view name);

/// The "machine_spec" of a weight file or of the metadata beside it; nothing where it is not there or null.
[[nodiscard]] Result<std::optional<MachineSpec>> ReadMachineSpec(const json::Cursor& file);

/// Only formulas that the format has: linear and curves; others are kInvalid, by name of the component.
[[nodiscard]] Result<std::string> WriteWeightsJson(const PowerModel& model);

}  // namespace kepler::model
