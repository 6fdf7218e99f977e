#pragma once
// A model file of any kind that is read, told apart by what stands in it: "kepler_model" (model_json.h), "learner"
// (xgboost_json.h), or components (weights_json.h). Pure; the caller bounds the size (kMaxModelBytes).
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::model {

/// What a file may leave open.
struct FileHints {
  std::string_view name = {};                  // of XGBoost's models; which formula a weight file means
  std::span<const std::string> features = {};  // canonical, for a file of XGBoost without names; else none
  Component component = Component::kPackage;   // of XGBoost's models
  std::optional<OutputType> output = {};       // of those, and of weight files: else what follows
  OutputType output_otherwise = OutputType::kAbsPower;
  bool is_signed = false;  // nothing of the above is: a file that would leave it open is refused
};

/// What is read has passed Check(). kMalformed with the place in the file; kInvalid for features that are missing, for
/// hints that are not what the file says itself, and for another file than "kepler_model" where it is signed.
[[nodiscard]] Result<PowerModel> ReadAnyModelJson(std::string_view text, const FileHints& hints);

}  // namespace kepler::model
