#pragma once
// Keeps the last model of each URL in a directory, for a startup at which the URL cannot be reached. Thread-safe.
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
  /// `directory` is created by the first Save(); if it is empty, nothing is kept. `most_bytes`: limit of a text.
  explicit ModelCache(std::string directory, size_t most_bytes = TextLimits().model)
      : directory_(std::move(directory)), most_bytes_(most_bytes) {}

  /// Returns the newest text of `key` whose checksum is the one in its file name. kNotFound if there is no file. If no
  /// checksum matches, kMalformed or the error of the newest file. Other errors as of ReadIncomingText().
  [[nodiscard]] Result<IncomingText> Load(std::string_view key, TextBudget& budget) const;
  /// Replaces the text of `key`. After an error or a crash, the old text or the new one is complete.
  [[nodiscard]] Status Save(std::string_view key, std::string_view text) const;
  /// Removes the texts of other keys. Files with names of another form stay; failures are ignored.
  void KeepOnly(std::span<const std::string> keys) const;

 private:
  /// The beginning of the file names of a key.
  [[nodiscard]] static std::string PrefixOf(std::string_view key);
  [[nodiscard]] Result<IncomingText> Read(const std::string& name, TextBudget& budget) const;

  std::string directory_;
  size_t most_bytes_;
  mutable std::mutex saving_;  // two threads may save under one key
};

}  // namespace kepler::model_store
