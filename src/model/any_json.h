#pragma once
// Reads a model file of any kind. The content shows the kind: "kepler_model" (model_json.h), "learner"
// (xgboost_json.h), or components (weights_json.h). Pure; the caller limits the size (kMaxModelBytes).
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::model {

/// Details that a file may omit.
struct FileHints {
  std::string_view name = {};                  // name of an XGBoost model; selects the formula of a weight file
  std::span<const std::string> features = {};  // canonical, for an XGBoost file without names; otherwise empty
  Component component = Component::kPackage;   // for XGBoost models
  std::optional<OutputType> output = {};       // for XGBoost models and weight files; default: output_otherwise
  OutputType output_otherwise = OutputType::kAbsPower;
  bool is_signed = false;  // true: no hint above is signed, so a file that omits the detail is refused
};

/// The returned model has passed Check(), and lacks the components that give 0 W for every row (zero_components.h).
/// Errors: kMalformed with the place in the file. kInvalid for missing features, for hints that contradict the file,
/// for a signed file that is not "kepler_model", and if every component gives 0 W.
[[nodiscard]] Result<PowerModel> ReadAnyModelJson(std::string_view text, const FileHints& hints);

}  // namespace kepler::model
