#pragma once
// Removes the components of a model that nobody metered. The published models of cloud machines have core and uncore
// with a target of 0 W in every training row. Such a component is no estimate, so it must not become a zone. Pure.
#include <vector>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::model {

/// Predictions below this limit count as 0 W. It is also the smallest power that a percentage error considers.
inline constexpr double kSmallestWatts = 1e-3;

/// Returns true if the predictor gives less than kSmallestWatts for every row.
[[nodiscard]] bool IsZero(const Predictor& predictor);

/// Removes each component whose predictor IsZero(), and returns the removed ones. kInvalid if no other component is
/// left; the model is then unchanged. `model` must pass Check(), and passes it afterwards.
[[nodiscard]] Result<std::vector<Component>> DropZeroComponents(PowerModel& model);

}  // namespace kepler::model
