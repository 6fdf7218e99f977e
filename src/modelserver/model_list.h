#pragma once
// The models of an index as a JSON list, for GET /models. Pure; any thread.
#include <string>
#include <string_view>

#include "modelserver/model_index.h"

namespace kepler::modelserver {

/// {"models": [{"name": …, "files": {"path": "sha256"}, …}], "skipped": [{"file": …, "reason": …}]}. Paths of files are
/// those of the server.
[[nodiscard]] std::string WriteModelList(const ModelIndex& index);

/// The server's path of a file: "/models/NAME/model.json" of our own models, "/db/…" of others, percent-encoded.
[[nodiscard]] std::string PathOf(const StoredModel& model, const StoredFile& file);

}  // namespace kepler::modelserver
