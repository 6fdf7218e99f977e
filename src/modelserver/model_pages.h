#pragma once
// Pages for people: the list of models, and a card per model. HTML without scripts; every text is escaped. Pure; any
// thread.
#include <string>
#include <string_view>

#include "modelserver/model_index.h"

namespace kepler::modelserver {

[[nodiscard]] std::string WriteListPage(const ModelIndex& index);
[[nodiscard]] std::string WriteCardPage(const StoredModel& model);

/// The server's path of the card of a model.
[[nodiscard]] std::string CardPath(const StoredModel& model);

/// Policy for browsers: the pages load nothing and run nothing.
inline constexpr std::string_view kPagePolicy = "default-src 'none'; style-src 'unsafe-inline'";

}  // namespace kepler::modelserver
