#pragma once
// Reads XGBoost's JSON of a booster (versions 1.7 to 3): gbtree with squared error or a similar objective, one output.
// Pure.
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
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

}  // namespace kepler::model
