#pragma once
// The directory of a model: model.json, and card.md for people.
#include <string>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::model_tool {

inline constexpr char kModelFile[] = "/model.json";
inline constexpr char kCardFile[] = "/card.md";

/// Of its directory, or of the file itself. Errors name the file.
[[nodiscard]] Result<model::PowerModel> ReadModel(const std::string& path);

}  // namespace kepler::model_tool
