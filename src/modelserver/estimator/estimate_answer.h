#pragma once
// Answers of the estimator: the watts of each row by component, as Kepler 0.7 reads them. Pure; any thread.
#include <cstddef>
#include <string>

#include "model/machine.h"
#include "model/model_set.h"
#include "modelserver/estimator/estimate_request.h"

namespace kepler::modelserver::estimator {

/// Kepler 0.7 reads an answer by one read of this size.
inline constexpr size_t kOldClientBytes = 4096;

/// {"powers":{"package":[42.5]},"msg":"","core_ratio":1}: the watts of the best model of the set for `machine`, chosen
/// as the agent does. core_ratio: the CPUs of the machine divided by those of the training machine; 1 if unknown, and
/// for models per core. Numbers are shortened, to five digits at least, if the answer is longer than kOldClientBytes.
[[nodiscard]] std::string Answer(const EstimateRequest& request, const model::ModelSet& models,
                                 const model::MachineSpec& machine);

/// The same for a request that cannot be answered: no watts, and the reason.
[[nodiscard]] std::string Refusal(const Error& error);

}  // namespace kepler::modelserver::estimator
