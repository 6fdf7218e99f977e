#pragma once
// YAML text as a plain tree, with the line of everything. The only part that knows the YAML library. Anchors, aliases
// and merge keys ("<<") are resolved; duplicate keys, further documents, and what exceeds the limits are errors.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace kepler::yaml {

inline constexpr size_t kMaxBytes = 1u << 20;
inline constexpr size_t kMaxValues = 10'000;  // keys too, and with every anchor and alias written out
inline constexpr size_t kMaxDepth = 64;

struct Key {
  std::string text;
  int line = 0;
};

struct Value {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  bool quoted = false;  // of a scalar: text for certain, whatever it looks like
  int line = 0;         // from 1
  std::string text = {};
  std::vector<Key> keys = {};     // of a map
  std::vector<Value> items = {};  // of a list; of a map: the values, in the order of keys
};

struct SyntaxError {
  int line = 0;  // from 1; 0 if no line is to blame
  std::string message;
};

/// The one document in `text`; a null value if there is none (empty, or comments only).
[[nodiscard]] std::expected<Value, SyntaxError> Parse(const std::string& text);

}  // namespace kepler::yaml
