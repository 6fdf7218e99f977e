#pragma once
// How a version of a model was trained: training.json in the version's directory. It is written before the version is
// published, so a published version that retrain made always has it. Blocks; any thread.
#include <string>
#include <string_view>

#include "base/result.h"

namespace kepler::modelserver {

inline constexpr char kTrainingFile[] = "training.json";

/// The text of the file. `until`: time of the last row that trained the version, in Unix seconds.
[[nodiscard]] std::string TrainingText(double until);

/// Time of the last row that trained the version in `directory`, in Unix seconds; 0: unknown, as for uploaded models.
/// Errors name the file.
[[nodiscard]] Result<double> TrainedUntil(const std::string& directory);

}  // namespace kepler::modelserver
