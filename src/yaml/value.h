#pragma once
// Parses YAML text into a tree with line numbers. No other room uses the YAML library. Anchors, aliases and merge keys
// ("<<") are resolved. Duplicate keys, further documents, and texts above the limits are errors.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kepler::yaml {

inline constexpr size_t kMaxBytes = 1u << 20;
inline constexpr size_t kMaxValues = 10'000;  // includes keys, and the copies for anchors and aliases
inline constexpr size_t kMaxDepth = 64;

struct Key {
  std::string text;
  int line = 0;
};

struct Value {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool quoted = false;  // scalar only: it is text, even if it looks like a number
  int line = 0;         // from 1
  std::string text = {};
  std::vector<Key> keys = {};     // map only
  std::vector<Value> items = {};  // list: its items; map: its values, in the order of keys
};

struct SyntaxError {
  int line = 0;  // from 1; 0 if the error belongs to no line
  std::string message;
};

/// Returns the document in `text`; a null value if there is none (empty, or only comments).
[[nodiscard]] std::expected<Value, SyntaxError> Parse(const std::string& text);

}  // namespace kepler::yaml
