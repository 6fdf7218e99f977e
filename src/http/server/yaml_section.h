#pragma once
// A small YAML document as plain values with their lines, and mappings whose keys are all known. Hides yaml-cpp.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kepler::http {

struct YamlValue {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 1;
  std::string key;  // inside a mapping
  int key_line = 1;
  std::string text;              // of a scalar
  std::vector<YamlValue> items;  // of a list or a mapping, in the order of the file
};

/// One document of at most 10,000 values, 32 deep, aliases counted as often as they stand; an empty one is null.
/// Errors begin with PATH:LINE.
[[nodiscard]] Result<YamlValue> ParseYaml(std::string_view text, const std::string& path);

[[nodiscard]] std::unexpected<Error> RefuseAt(const std::string& path, int line, std::string_view why);

/// A mapping. The value it was opened on must outlive it.
class YamlSection {
 public:
  /// A null pointer or null value is empty. Unknown and repeated keys are errors; no `known` allows every key.
  [[nodiscard]] static Result<YamlSection> Open(const YamlValue* value, const std::string& path, std::string_view name,
                                                std::span<const std::string_view> known);

  [[nodiscard]] const YamlValue* Find(std::string_view key) const;     // null where absent or null
  [[nodiscard]] Result<std::string> Text(std::string_view key) const;  // "" where absent or null
  [[nodiscard]] Result<bool> Flag(std::string_view key, bool otherwise) const;
  [[nodiscard]] Result<std::vector<std::string>> List(std::string_view key) const;
  [[nodiscard]] std::span<const YamlValue> entries() const { return entries_; }
  /// An error at the line of `key`, or of the section where `key` is absent.
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view key, std::string_view why) const;

 private:
  std::string path_;
  std::string name_;
  int line_ = 1;
  std::span<const YamlValue> entries_;
};

}  // namespace kepler::http
