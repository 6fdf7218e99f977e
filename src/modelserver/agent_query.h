#pragma once
// The best of our own models for an agent, which asks by GET with its machine. The answer is model.json itself, so that
// the agent verifies, caches and judges it as any other file of a URL. Pure; any thread.
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
  std::vector<std::string> features;        // canonical; empty: all
  std::optional<model::OutputType> output;  // empty: both
  size_t unknown_fields = 0;
};

/// Reads "machine=…&features=a,b&output=AbsPower". The machine is JSON (model/machine_json.h) or pairs
/// (model/machine_pairs.h). kMalformed with the parameter.
[[nodiscard]] Result<AgentQuery> ReadAgentQuery(std::string_view query);

/// Chooses among our own models as the agent does (model::ChooseModel): for the package, else for the platform. Only
/// models of this or a similar machine, within the `limits`. kNotFound with the reasons.
[[nodiscard]] Result<Selected> SelectForAgent(const ModelIndex& index, const AgentQuery& query,
                                              std::span<const Bound> limits = {});

}  // namespace kepler::modelserver
