#pragma once
// Makes the store of power models from the configuration.
#include <memory>

#include "apps/kepler/config.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/machine.h"
#include "model/model_set.h"
#include "model_store/model_store.h"

namespace kepler::agent {

/// Returns the store of power models. Its places are model.server, with this `machine` in the query, and the first of
/// these that is set: model.sources, MODEL_CONFIG (model_config.h), the default directory. Null if there is no place,
/// or if meter.require disables all estimates and no model splits energy. Error: the public key cannot be read.
[[nodiscard]] Result<std::unique_ptr<model_store::ModelStore>> MakeModelStore(const Config& config,
                                                                              std::shared_ptr<const Clock> clock,
                                                                              std::shared_ptr<model::ModelBoard> board,
                                                                              const model::MachineSpec& machine);
}  // namespace kepler::agent
