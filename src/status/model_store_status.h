#pragma once
// Status of the sources of trained power models. Filled by model_store/. Counters are totals since startup.
#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace kepler::status {

/// Status of the sources of trained power models. Filled by model_store/.
struct ModelStoreStatus {
  uint64_t refreshes = 0;         // reads of files and requests to servers
  uint64_t failed_refreshes = 0;  // failed refreshes, included in `refreshes`
  uint64_t models = 0;            // number of loaded models
  // Oldest of the latest successful fetches of all URLs; epoch: one never succeeded; nothing: there is no URL.
  std::optional<WallTime> last_fetch{};
  WallTime last_success{};  // latest refresh without a failure; epoch: never
};

}  // namespace kepler::status
