#pragma once
// The archives that Kepler's model server publishes: metadata.json, what each component is predicted by, and how the
// features are scaled. Much in them are Python pickles; reading one runs what it says, so none is read. Pure.
#include <span>
#include <string>

#include "base/result.h"
#include "lab/files/archive.h"
#include "model/power_model.h"

namespace kepler::lab::files {

struct ServerModel {
  model::PowerModel model;
  std::string stated;  // its errors as its metadata have them, "package_mae 3.2, package_mape 4.1"; may be empty
};

/// From weight.json where it is there; else trees as XGBoost's JSON, whose features are not scaled or have their scales
/// in weight.json. What would take a pickle is kUnavailable, naming it and what to import instead.
[[nodiscard]] Result<ServerModel> ReadServerArchive(std::span<const Member> members);

}  // namespace kepler::lab::files
