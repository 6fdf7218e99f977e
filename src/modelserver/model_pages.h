#pragma once
// Pages for people: the list of models, and a card per model. HTML without scripts; every text is escaped. Pure; any
// thread.
#include <span>
#include <string>
#include <string_view>

#include "modelserver/decision_log.h"
#include "modelserver/model_index.h"

namespace kepler::modelserver {

[[nodiscard]] std::string WriteListPage(const ModelIndex& index);
/// What only the card of our own model needs, which is not in the index.
struct CardDetails {
  const model::PowerModel* model = nullptr;  // with its tested rows; null: they are left out
  std::span<const Decision> decisions{};     // about its versions, the oldest first
};
[[nodiscard]] std::string WriteCardPage(const StoredModel& model, const CardDetails& details = {});

/// The server's path of the card of a model.
[[nodiscard]] std::string CardPath(const StoredModel& model);

/// Policy for browsers: the pages load nothing and run nothing.
inline constexpr std::string_view kPagePolicy = "default-src 'none'; style-src 'unsafe-inline'";

}  // namespace kepler::modelserver
