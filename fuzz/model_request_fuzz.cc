// Requests to the model server, a body or a query, and weights that it completes: any bytes give a value within its
// limits or a reason.
#include <cmath>

#include "fuzz.h"
#include "modelserver/agent_query.h"
#include "modelserver/model_request.h"

using namespace kepler::modelserver;

namespace {

void JudgeFilter(std::span<const Bound> filter) {
  for (const Bound& bound : filter)
    if (bound.key.empty() || !std::isfinite(bound.limit)) std::abort();
  if (!filter.empty() && Passes(filter, {})) std::abort();
}

}  // namespace

void Fuzz(std::string_view text) {
  const auto request = ReadModelRequest(text);
  if (!request && request.error().message.empty()) std::abort();
  if (request) {
    if (request->metrics.empty() || request->source.empty()) std::abort();
    if (request->machine && request->node_type == 0U) std::abort();
    JudgeFilter(request->filter);
  }
  const auto best = ReadBestModelsRequest(text);
  if (!best && best.error().message.empty()) std::abort();
  if (best) JudgeFilter(best->filter);
  const auto query = ReadAgentQuery(text);
  if (!query && query.error().message.empty()) std::abort();
  const auto weights = CompleteWeights(text, "SGDRegressorTrainer_0", kepler::model::MachineSpec{}, 1.5);
  if (weights && CompleteWeights(*weights, "other", std::nullopt, std::nullopt) != *weights) std::abort();
}
