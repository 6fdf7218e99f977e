#pragma once
// JSON as a tree, for the readers of model files, and text for the writers. Numbers are exact: what was written with
// the shortest text that means a double comes back as that double. Lists of nothing but numbers, of which models
// consist, take eight bytes a number. Pure; 32 levels at most.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace kepler::model {

struct JsonMember;

struct Json {
  using Numbers = std::vector<double>;
  using List = std::vector<Json>;
  using Object = std::vector<JsonMember>;  // keys are unique, in the order of the text
  std::variant<std::nullptr_t, bool, double, std::string, Numbers, List, Object> value;
};

struct JsonMember {
  std::string key;
  Json value;
};

/// Values in a text, but for those in lists of numbers only: each takes up to a hundred bytes.
inline constexpr size_t kMaxJsonValues = 2'000'000;

/// The whole of `text`; kMalformed with the byte. A key that stands twice in one object, a number that no double holds,
/// more than `max_values` and what is not UTF-8 are such.
[[nodiscard]] Result<Json> ParseJson(std::string_view text, size_t max_values = kMaxJsonValues);

/// What a text is that does not begin as JSON does, with what to do, for messages: "HTML, not JSON; ...". Nothing where
/// it may be JSON.
[[nodiscard]] std::string_view WhatInPlaceOfJson(std::string_view text);

/// A value in a Json, which must outlive it. Every failure is kMalformed and says where, and what stands there instead.
class JsonAt {
 public:
  explicit JsonAt(const Json& root) : root_(&root), json_(&root) {}

  /// The way to it, for messages: `learner.gradient_booster.model.trees[3]`. Looks for it from the root.
  [[nodiscard]] std::string Path() const;
  [[nodiscard]] const Json& json() const { return *json_; }
  /// Another value of the same root.
  [[nodiscard]] JsonAt At(const Json& json) const { return JsonAt(*root_, json); }

  [[nodiscard]] Result<const Json::Object*> Members() const;
  [[nodiscard]] Result<JsonAt> Member(std::string_view key) const;
  /// Nothing where there is no such key.
  [[nodiscard]] Result<std::optional<JsonAt>> Find(std::string_view key) const;
  [[nodiscard]] Result<std::vector<JsonAt>> Elements() const;
  [[nodiscard]] Result<std::span<const double>> Numbers() const;
  [[nodiscard]] Result<double> Number() const;
  [[nodiscard]] Result<std::string_view> Text() const;
  /// A whole number, 0 to `most`.
  [[nodiscard]] Result<uint64_t> Count(uint64_t most) const;
  /// "learner.objective: reason".
  [[nodiscard]] std::unexpected<Error> Refuse(std::string_view reason) const;

 private:
  JsonAt(const Json& root, const Json& json) : root_(&root), json_(&json) {}
  [[nodiscard]] std::unexpected<Error> RefuseKind(std::string_view wanted) const;

  const Json* root_;
  const Json* json_;
};

/// In quotes, escaped. What is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string JsonText(std::string_view text);

}  // namespace kepler::model
