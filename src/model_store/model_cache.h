#pragma once
// What URLs gave last, in a directory, for a start at which they cannot be reached. Thread-safe.
#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model_store/incoming_text.h"
#include "model_store/text_budget.h"

namespace kepler::model_store {

class ModelCache {
 public:
  /// `directory`: made when it is needed; "": nothing is kept. `most_bytes`: of a text that is read.
  explicit ModelCache(std::string directory, size_t most_bytes = TextLimits().model)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  /// The text that was saved under `key` last and has the checksum that is in the name of its file. kNotFound without
  /// any; where none has it, kMalformed or why the newest cannot be read; as ReadIncomingText().
  [[nodiscard]] Result<IncomingText> Load(std::string_view key, TextBudget& budget) const;
  /// Whole or not at all; takes the place of what was there under `key`.
  [[nodiscard]] Status Save(std::string_view key, std::string_view text) const;
  /// Removes what was saved under other keys. Files that are not named as this cache names them, and what cannot be
  /// removed, stay.
  void KeepOnly(std::span<const std::string> keys) const;

 private:
  /// What the files of a key begin with.
  [[nodiscard]] static std::string PrefixOf(std::string_view key);
  [[nodiscard]] Result<IncomingText> Read(const std::string& name, TextBudget& budget) const;

  std::string directory_;
  size_t most_bytes_;
  mutable std::mutex saving_;  // two may save under one key
};

}  // namespace kepler::model_store
