#pragma once
// Chooses the stored model for a request. Two policies: `honest` is the agent's own choice (model::ChooseModel), with
// the most similar machine if no model is for the client's machine; `upstream` is that of the published model server,
// the smallest stated error. Pure; any thread. Errors are for the client: kNotFound with the reason.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "modelserver/model_index.h"
#include "modelserver/model_request.h"

namespace kepler::modelserver {

enum class Policy : uint8_t { kHonest, kUpstream };

struct SelectionRules {
  Policy policy = Policy::kHonest;
  std::string error_key = "mae";  // of `upstream`, and of BestModels()
  /// Models with a larger stated error are listed, but not chosen. A limit of a component ("dram_mape") is for models
  /// that have it.
  std::vector<Bound> limits{};
};

struct Selected {
  const StoredModel* model = nullptr;  // of the index
  std::string reason;                  // for people: "same_machine, stated mape 2.5"
};

[[nodiscard]] Result<Selected> SelectModel(const ModelIndex& index, const ModelRequest& request,
                                           const SelectionRules& rules);

/// Name of the best model by the stated error, by output type and feature group.
using BestModels = std::map<std::string, std::map<std::string, std::string>>;
/// kNotFound if there is none.
[[nodiscard]] Result<BestModels> FindBestModels(const ModelIndex& index, const BestModelsRequest& request,
                                                const SelectionRules& rules);

/// Returns true if the model states every error that has a limit, and none is above its limit.
[[nodiscard]] bool IsWithin(std::span<const Bound> limits, const StoredModel& model);

/// Returns true if the model has watts for the energy source.
[[nodiscard]] bool Serves(const StoredModel& model, std::string_view source);

}  // namespace kepler::modelserver
