#pragma once
// Draft: settings during loading, with the source of each value and the mistakes found.
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
  int line = 0;                      // line in the file; also the line of a null, which sets no value
  std::vector<int> item_lines = {};  // lines of the items of a list in the file
  std::map<std::string, int, std::less<>> name_lines = {};  // lines of the names of a map in the file
  std::string flag = {};                                    // as spelled, with "--"
  Mistakes unknown_choices = {};                            // a flag may still correct them
  Mistakes broken_rules = {};                               // of the table
};

class Draft {
 public:
  /// The draft changes `values`. `file` may be empty.
  Draft(const Values& values, std::string file)
      : values_(values), file_(std::move(file)), origins_(values.keys.size()) {}

  [[nodiscard]] const Values& values() const { return values_; }
  [[nodiscard]] std::span<const Key> keys() const { return values_.keys; }
  [[nodiscard]] Field field(const Key& key) const { return key.place.of(values_.whole); }
  [[nodiscard]] const std::string& file() const { return file_; }
  Origin& origin(const Key& key) { return origins_[IndexOf(key)]; }
  Origin& origin(std::string_view path) { return origin(KeyAt(keys(), path)); }

  /// Applies the YAML `text` to the values. Types are checked here, and so are blocks in lists. Null keeps a single
  /// value and empties a list.
  void LoadYaml(const std::string& text);

  /// Returns "FILE:LINE: key.path", "--flag" or "key.path". `item` is an index in a list or map; the result then names
  /// the item too.
  [[nodiscard]] std::string Where(const Key& key, std::optional<size_t> item = std::nullopt) const;
  [[nodiscard]] std::string Where(std::string_view path, std::optional<size_t> item = std::nullopt) const {
    return Where(KeyAt(keys(), path), item);
  }
  /// Returns "FILE:LINE: path"; `path` may be empty, `line` 0.
  [[nodiscard]] std::string Where(int line, std::string_view path) const;

  void Reject(const Key& key, const Mistake& mistake);
  /// For the program's own rules. Does nothing if the value, or the item, has broken a rule of the table, so that a
  /// mistake has one error.
  void Reject(std::string_view path, std::string_view reason, std::optional<size_t> item = std::nullopt);
  /// Rejects a place in the file.
  void RejectLine(int line, std::string_view path, std::string_view reason);
  void Warn(std::string text) { warnings_.push_back(std::move(text)); }
  /// Reports the unknown key `path`. `meant` is the most similar known key, or empty; `hint` may be empty.
  void Unknown(int line, std::string_view path, std::string_view meant, std::string_view hint = {});

  /// Call after the merge. Adds an error for each broken rule of the table, and a warning for each enabled key without
  /// an effect.
  void CheckTable();

  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  [[nodiscard]] const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  [[nodiscard]] size_t IndexOf(const Key& key) const { return static_cast<size_t>(&key - keys().data()); }

  Values values_;
  std::string file_;
  std::vector<Origin> origins_;  // one per key
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
  std::vector<std::string> unknown_;
};

}  // namespace kepler::settings
