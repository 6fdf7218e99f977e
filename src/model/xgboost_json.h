#pragma once
// Reads XGBoost's JSON of a booster (versions 1.7 to 3): gbtree with squared error or a similar objective, one output.
// Writes it in the form of version 2.1. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "model/power_model.h"
#include "model/predictor.h"

namespace kepler::model {

struct XgboostModel {
  Trees trees;
  std::vector<std::string> features;  // names from the file; may be empty
  size_t feature_count = 0;
};

/// Unsupported kinds are refused by name: categorical splits, dart, linear boosters, several outputs, and objectives
/// with a link other than identity.
[[nodiscard]] Result<XgboostModel> ReadXgboostJson(std::string_view text);
[[nodiscard]] Result<XgboostModel> ReadXgboostJson(const json::Value& document);

/// Writes one component: trees, or a blend of trees. Scales and limits of features become part of the thresholds, to
/// the precision of a float. The limits of a model's watts (EstimateRow()) are not in the file. kInvalid for other
/// formulas and for kCore models.
[[nodiscard]] Result<std::string> WriteXgboostJson(const PowerModel& model, const ComponentModel& component);

}  // namespace kepler::model
