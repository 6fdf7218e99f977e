#pragma once
// Reads and writes the weight files of Kepler 0.6 and 0.7: {component: {"All_Weights": {...}}}, the format of the
// published model database. Pure.
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "model/power_model.h"

namespace kepler::model {

/// `name` selects the formula if the text has no "model_name" ("LogisticRegressionTrainer_0": the part before the last
/// '_'). An unknown trainer is linear; linear with CurveFit_Weights is an error. Curves use the training feature of the
/// file's feature group (cpu_instructions of CounterOnly ...), not the first feature.
[[nodiscard]] Result<PowerModel> ReadWeightsJson(std::string_view text, std::string_view name);
[[nodiscard]] Result<PowerModel> ReadWeightsJson(const json::Value& document, std::string_view name);

/// Writes only formulas of the format: linear and curves. Other formulas are kInvalid, with the component's name.
[[nodiscard]] Result<std::string> WriteWeightsJson(const PowerModel& model);

}  // namespace kepler::model
