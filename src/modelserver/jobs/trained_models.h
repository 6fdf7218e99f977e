#pragma once
// What a training job left in its directory, as one archive for its client. Reads files; blocks.
#include <string>

#include "base/result.h"

namespace kepler::modelserver::jobs {

/// All files below `directory`/abs and `directory`/dyn, with "-" for "/" in their names: "abs-BPFOnly-model.json".
/// kNotFound if there is none.
[[nodiscard]] Result<std::string> ArchiveOfTrained(const std::string& directory);

}  // namespace kepler::modelserver::jobs
