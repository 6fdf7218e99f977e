#pragma once
// Mappings of a YAML file whose keys are all known. Errors begin with PATH:LINE.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/value.h"

namespace kepler::http {

[[nodiscard]] std::unexpected<Error> RefuseAt(const std::string& path, int line, std::string_view why);

/// Where the keys of a mapping stand. Outlives the tree: what a key names may turn out to be wrong later.
struct KeyPlaces {
  std::string path;
  std::string section;
  int line = 1;  // of the section
  std::map<std::string, int, std::less<>> lines;

  /// "PATH:LINE: SECTION.KEY"; the line of the section where `key` is absent.
  [[nodiscard]] std::string Of(std::string_view key) const;
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view key, std::string_view why) const;
};

/// A mapping. The value it was opened on must outlive it.
class YamlSection {
 public:
  /// A null pointer or null value is empty. Unknown keys are errors; no `known` allows every key.
  [[nodiscard]] static Result<YamlSection> Open(const yaml::Value* value, const std::string& path,
                                                std::string_view name, std::span<const std::string_view> known);

  [[nodiscard]] const yaml::Value* Find(std::string_view key) const;   // null where absent or null
  [[nodiscard]] Result<std::string> Text(std::string_view key) const;  // "" where absent or null
  [[nodiscard]] Result<bool> Flag(std::string_view key, bool otherwise) const;
  [[nodiscard]] Result<std::vector<std::string>> List(std::string_view key) const;
  [[nodiscard]] std::span<const yaml::Key> keys() const { return keys_; }
  [[nodiscard]] const KeyPlaces& places() const { return places_; }
  /// An error at the line of `key`, or of the section where `key` is absent.
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view key, std::string_view why) const {
    return places_.Refuse(key, why);
  }

 private:
  KeyPlaces places_;
  std::span<const yaml::Key> keys_;
  std::span<const yaml::Value> values_;
};

}  // namespace kepler::http
