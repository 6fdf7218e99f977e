#pragma once
// Decisions about the versions of a model in a store: STORE/.versions/NAME/decisions.jsonl, a line for each retraining
// and each roll back. Blocks.
#include <cstdint>
#include <string>

#include "base/result.h"
#include "modelserver/decision_log.h"

namespace kepler::lab::tool {

/// A model of a store.
struct ModelInStore {
  std::string store;
  std::string name;
  [[nodiscard]] std::string Link() const;       // to the directory of the published version
  [[nodiscard]] std::string Published() const;  // path of model.json
  [[nodiscard]] std::string Versions() const;   // directory
};

/// Adds a line with the present time, and prints it.
[[nodiscard]] Status Remember(const ModelInStore& of, const modelserver::Decision& decision);

/// Number of the next version: larger than that of the published version and of each that the store keeps. kInvalid if
/// there is none.
[[nodiscard]] Result<uint32_t> NextVersion(const ModelInStore& of, uint32_t published);

/// Time of the last row that trained the version in `directory`, in Unix seconds; 0: unknown, as for uploaded models.
/// Versions from before there was training.json have it in the log.
[[nodiscard]] Result<double> TrainedUntil(const ModelInStore& of, const std::string& directory, uint32_t version);

}  // namespace kepler::lab::tool
