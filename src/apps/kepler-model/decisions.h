#pragma once
// Decisions about the versions of a model in a store: STORE/.versions/NAME/decisions.jsonl, a line for each retraining
// and each roll back. Blocks.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace kepler::lab::tool {

/// A model of a store.
struct ModelInStore {
  std::string store;
  std::string name;
  [[nodiscard]] std::string Published() const;  // path of model.json
  [[nodiscard]] std::string Versions() const;   // directory
};

struct Decision {
  uint32_t old_version = 0;  // 0: there is none
  uint32_t new_version = 1;
  std::optional<double> old_mae{};
  std::optional<double> new_mae{};
  size_t rows = 0;           // that judged both
  double trained_until = 0;  // Unix seconds
  bool is_published = false;
  std::string reason{};
};

/// Adds a line, and prints it. A line that a crash cut is skipped by readers.
[[nodiscard]] Status Remember(const ModelInStore& of, const Decision& decision);

/// Number of the next version: larger than that of the published version and of each that the store keeps.
[[nodiscard]] uint32_t NextVersion(const ModelInStore& of, uint32_t published);

/// Time of the last data that trained a published version, in Unix seconds; 0: unknown.
[[nodiscard]] double TrainedUntil(const ModelInStore& of, uint32_t version);

}  // namespace kepler::lab::tool
