#pragma once
// Settings while they are put together: where each value came from, and what was wrong on the way.
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "settings/table.h"
#include "settings/values.h"

namespace kepler::settings {

enum class From { kDefault, kFile, kFlag };

struct Origin {
  From from = From::kDefault;
  int line = 0;                      // in the file; also where a null stands, which gives nothing
  std::vector<int> item_lines = {};  // of a list in the file
  std::map<std::string, int, std::less<>> name_lines = {};  // of a map in the file
  std::string flag = {};                                    // as spelled, with "--"
  Mistakes unknown_choices = {};                            // which a flag may still correct
};

class Draft {
 public:
  /// Writes to `values`. `file` may be empty.
  Draft(const Values& values, std::string file)
      : values_(values), file_(std::move(file)), origins_(values.keys.size()) {}

  [[nodiscard]] const Values& values() const { return values_; }
  [[nodiscard]] std::span<const Key> keys() const { return values_.keys; }
  [[nodiscard]] Field field(const Key& key) const { return key.place.of(values_.whole); }
  [[nodiscard]] const std::string& file() const { return file_; }
  Origin& origin(const Key& key) { return origins_[IndexOf(key)]; }
  Origin& origin(std::string_view path) { return origin(KeyAt(keys(), path)); }

  /// Puts what `text` says over the values; types are checked here, and all of blocks in lists. Null keeps a single
  /// value and empties a list.
  void LoadYaml(const std::string& text);

  /// "FILE:LINE: key.path", "--flag" or "key.path"; `item` is a place in a list or map, whose items have their name
  /// too.
  [[nodiscard]] std::string Where(const Key& key, std::optional<size_t> item = std::nullopt) const;
  [[nodiscard]] std::string Where(std::string_view path, std::optional<size_t> item = std::nullopt) const {
    return Where(KeyAt(keys(), path), item);
  }
  /// "FILE:LINE: path"; `path` may be empty, `line` 0.
  [[nodiscard]] std::string Where(int line, std::string_view path) const;

  void Reject(const Key& key, const Mistake& mistake);
  void Reject(std::string_view path, std::string_view reason, std::optional<size_t> item = std::nullopt) {
    Reject(KeyAt(keys(), path), {std::string(reason), item});
  }
  /// For a place in the file.
  void RejectLine(int line, std::string_view path, std::string_view reason);
  void Warn(std::string text) { warnings_.push_back(std::move(text)); }
  /// `path` is a key that nobody knows; `meant` the one that was perhaps meant, or empty; `advice` may be empty.
  void Unknown(int line, std::string_view path, std::string_view meant, std::string_view advice = {});

  /// Once everything is merged: puts the rules of the table that are broken on the errors, and switched-on keys that do
  /// nothing yet on the warnings.
  void CheckTable();

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  [[nodiscard]] size_t IndexOf(const Key& key) const { return static_cast<size_t>(&key - keys().data()); }

  Values values_;
  std::string file_;
  std::vector<Origin> origins_;  // one for each key
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
  std::vector<std::string> unknown_;
};

}  // namespace kepler::settings
