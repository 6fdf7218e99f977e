#pragma once
// XGBoost's own JSON of a booster (versions 1.7 to 3): gbtree with squared error and kin, one output. Pure.
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "model/predictor.h"

namespace kepler::model {

struct XgboostModel {
  Trees trees;
  std::vector<std::string> features;  // as the file names them; may be empty
  size_t feature_count = 0;
};

/// Categorical splits, dart, linear boosters, several outputs and objectives with a link other than identity are
/// refused by name.
[[nodiscard]] Result<XgboostModel> ReadXgboostJson(std::string_view text);
[[nodiscard]] Result<XgboostModel> ReadXgboostJson(const json::Value& document);

}  // namespace kepler::model
