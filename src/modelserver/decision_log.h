#pragma once
// The decisions about the versions of a model in a store: STORE/.versions/NAME/decisions.jsonl, a line for each
// retraining and each roll back. Reading blocks; any thread.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::modelserver {

struct Decision {
  double time = 0;           // Unix seconds
  uint32_t old_version = 0;  // 0: there is none
  uint32_t new_version = 1;
  std::optional<double> old_mae{};
  std::optional<double> new_mae{};
  size_t rows = 0;           // that judged both
  double trained_until = 0;  // Unix seconds
  bool is_published = false;
  std::string reason{};
};

/// Path of the file below the directory with the versions of a model.
inline constexpr char kDecisionsFile[] = "/decisions.jsonl";

/// One line of the file, without its end. `name`: of the model.
[[nodiscard]] std::string DecisionLine(const Decision& decision, std::string_view name);

/// The decisions in the file at `path`, the oldest first; the latest mebibyte of a larger file. Lines that a crash cut
/// are skipped. Empty if there is no file.
[[nodiscard]] Result<std::vector<Decision>> ReadDecisions(const std::string& path);

}  // namespace kepler::modelserver
