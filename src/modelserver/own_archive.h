#pragma once
// Our own models as archives for the Python estimator of Kepler 0.7, without pickles: trees in XGBoost's JSON, of raw
// features, so that nothing scales them before. Pure; any thread.
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/power_model.h"

namespace kepler::modelserver {

/// The name that old clients get. It selects their reader.
inline constexpr std::string_view kOwnArchiveName = "XgboostFitTrainer_0";

/// The model, limited to the components of `source`. The limits of its watts (EstimateRow()) are not in the archive.
/// kInvalid if a component is not made of trees, or if the model is per core.
[[nodiscard]] Result<std::string> WriteOwnArchive(const model::PowerModel& model, std::string_view source);

/// Returns true if the component is measured by the energy source: platform, or a zone of RAPL.
[[nodiscard]] bool IsOfSource(model::Component component, std::string_view source);

}  // namespace kepler::modelserver
