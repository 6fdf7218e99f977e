#pragma once
// A configuration while it is put together: the values, where each came from, and what was wrong on the way.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/schema.h"

namespace kepler::config {

enum class From { kDefault, kFile, kFlag };

struct Origin {
  From from = From::kDefault;
  int line = 0;                 // in the file
  std::vector<int> item_lines;  // of a list in the file
  std::string flag;             // as spelled, with "--"
};

class Draft {
 public:
  explicit Draft(std::string file) : file_(std::move(file)), origins_(Keys().size()) {}

  Config config;

  [[nodiscard]] const std::string& file() const { return file_; }
  Origin& origin(size_t key) { return origins_[key]; }
  [[nodiscard]] const Origin& origin(size_t key) const { return origins_[key]; }
  [[nodiscard]] const Origin& origin(std::string_view path) const { return origins_[KeyIndex(path)]; }

  /// "FILE:LINE: key.path", "--flag" or "key.path"; `item` is a place in a list.
  [[nodiscard]] std::string Where(size_t key, std::optional<size_t> item = std::nullopt) const;

  void Reject(size_t key, std::string_view reason, std::optional<size_t> item = std::nullopt);
  void Reject(std::string_view path, std::string_view reason) { Reject(KeyIndex(path), reason); }
  /// For what has no key of its own. `path` may be empty, `line` 0.
  void RejectLine(int line, std::string_view path, std::string_view reason);
  void Warn(std::string text) { warnings_.push_back(std::move(text)); }
  /// `path` is a key that nobody knows; `meant` the one that was perhaps meant, or empty; `advice` may be empty.
  void Unknown(int line, std::string_view path, std::string_view meant, std::string_view advice = {});

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  std::string file_;
  std::vector<Origin> origins_;  // one for each of Keys()
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
  std::vector<std::string> unknown_;
};

}  // namespace kepler::config
