#pragma once
// JSON as a tree, and text for writers. Numbers are exact: the shortest text of a double gives that double again. A
// list of only numbers, the bulk of a model, takes eight bytes a number. Pure; 32 levels at most.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace kepler::json {

struct Member;

struct Value {
  using Numbers = std::vector<double>;
  using List = std::vector<Value>;
  using Object = std::vector<Member>;  // keys are unique, in the order of the text
  std::variant<std::nullptr_t, bool, double, std::string, Numbers, List, Object> value;
};

struct Member {
  std::string key;
  Value value;
};

/// Maximum number of values in a text, except those in lists of only numbers: each takes up to a hundred bytes.
inline constexpr size_t kMaxValues = 2'000'000;

/// Reads all of `text`. kMalformed, with the byte, for invalid JSON or UTF-8, a key that occurs twice in an object, a
/// number outside the range of a double, or more than `max_values` values.
[[nodiscard]] Result<Value> Parse(std::string_view text, size_t max_values = kMaxValues);

/// A place in a tree, which must outlive it. Every error is kMalformed and names the path, the type that is expected
/// and the type that is there.
class Cursor {
 public:
  explicit Cursor(const Value& root) : root_(&root), value_(&root) {}

  /// For messages: `learner.gradient_booster.model.trees[3]`. Searches from the root.
  [[nodiscard]] std::string Path() const;
  /// Another value of the same tree.
  [[nodiscard]] Cursor At(const Value& value) const { return Cursor(*root_, value); }
  [[nodiscard]] bool IsNull() const { return std::holds_alternative<std::nullptr_t>(value_->value); }

  [[nodiscard]] Result<const Value::Object*> Members() const;
  [[nodiscard]] Result<std::vector<Cursor>> Elements() const;
  [[nodiscard]] Result<std::span<const double>> Numbers() const;
  [[nodiscard]] Result<double> Number() const;
  [[nodiscard]] Result<bool> Bool() const;
  [[nodiscard]] Result<std::string_view> Text() const;
  [[nodiscard]] Result<std::vector<std::string>> Texts() const;
  /// A whole number from 0 to `max`.
  [[nodiscard]] Result<uint64_t> Count(uint64_t max = UINT32_MAX) const;

  /// Empty if the key is missing.
  [[nodiscard]] Result<std::optional<Cursor>> Find(std::string_view key) const;
  /// The same for a key that must be there, and then its value.
  [[nodiscard]] Result<Cursor> Member(std::string_view key) const;
  [[nodiscard]] Result<std::vector<Cursor>> Elements(std::string_view key) const;
  [[nodiscard]] Result<std::span<const double>> Numbers(std::string_view key) const;
  [[nodiscard]] Result<double> Number(std::string_view key) const;
  [[nodiscard]] Result<std::string_view> Text(std::string_view key) const;
  [[nodiscard]] Result<std::vector<std::string>> Texts(std::string_view key) const;
  [[nodiscard]] Result<uint64_t> Count(std::string_view key, uint64_t max = UINT32_MAX) const;

  /// An error for any other key, with the nearest of `keys`.
  [[nodiscard]] Status OnlyKeys(std::span<const std::string_view> keys) const;

  /// "learner.objective: reason"; of the root only "reason". The caller names the file or the request.
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view reason) const;

 private:
  Cursor(const Value& root, const Value& value) : root_(&root), value_(&value) {}
  [[nodiscard]] std::unexpected<Error> RefuseKind(std::string_view wanted) const;

  const Value* root_;
  const Value* value_;
};

[[nodiscard]] inline std::string Quote(std::string_view text) { return QuoteJson(text); }
/// `["a","b"]`.
[[nodiscard]] std::string QuoteList(std::span<const std::string> texts);

}  // namespace kepler::json
