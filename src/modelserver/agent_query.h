#pragma once
// Chooses the best own model for an agent. The agent sends a GET request with its machine. The answer is the file
// model.json, so the agent verifies, caches and checks it like any other file from a URL. Pure; any thread.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "model/power_model.h"
#include "modelserver/selection.h"

namespace kepler::modelserver {

struct AgentQuery {
  model::MachineSpec machine;
  std::vector<std::string> features;        // canonical names; empty: all
  std::optional<model::OutputType> output;  // nothing: both types
  size_t unknown_fields = 0;
};

/// Reads "machine=…&features=a,b&output=AbsPower". The machine is JSON (model/machine_json.h) or pairs
/// (model/machine_pairs.h). kMalformed names the parameter.
[[nodiscard]] Result<AgentQuery> ReadAgentQuery(std::string_view query);

/// Chooses an own model by the rules of the agent (model::ChooseModel): for the package, else for the platform. Only
/// models of the same or a similar machine and within the `limits` count. kNotFound has the reasons.
[[nodiscard]] Result<Selected> SelectForAgent(const ModelIndex& index, const AgentQuery& query,
                                              std::span<const Bound> limits = {});

}  // namespace kepler::modelserver
