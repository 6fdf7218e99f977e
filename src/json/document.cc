#include "json/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/parse.h"
#include "json/stream.h"

namespace kepler::json {
namespace {

class TreeBuilder final : public Visitor {
 public:
  explicit TreeBuilder(size_t max_values) : max_(max_values), left_(max_values) {}
  Value root;

  Status BeginObject() override { return Open(Value{Value::Object()}); }
  Status EndObject() override {
    std::set<std::string_view> keys;
    for (const auto& [key, unused] : std::get<Value::Object>(open_.back()->value))
      if (!keys.insert(key).second)
        return Fail(ErrorKind::kMalformed, fmt::format("the key \"{}\" appears twice", key));
    return EndList();
  }
  Status BeginList() override { return Open(Value{Value::Numbers()}); }
  Status EndList() override {
    open_.pop_back();
    return {};
  }
  Status Key(std::string_view key) override {
    std::get<Value::Object>(open_.back()->value).push_back({std::string(key), Value()});
    return {};
  }
  Status Text(std::string_view text) override { return Take(Value{std::string(text)}); }
  /// The parser's own doubles may be off by the last bit.
  Status Number(double rough, std::string_view text) override {
    const auto exact = ParseNumber<double>(text);
    if (!exact && std::abs(rough) >= 1)
      return Fail(ErrorKind::kMalformed, fmt::format("the number {:.40} is too large", text));
    const double number = exact.value_or(0);
    auto* const numbers = open_.empty() ? nullptr : std::get_if<Value::Numbers>(&open_.back()->value);
    if (numbers == nullptr) return Take(Value{number});
    numbers->push_back(number);
    return {};
  }
  Status Literal(std::optional<bool> value) override { return Take(value ? Value{*value} : Value{nullptr}); }

 private:
  Status Take(Value value) {
    const auto put = Put(std::move(value));
    return put ? Status() : std::unexpected(put.error());
  }
  Status Open(Value value) {
    KEPLER_TRY(Value* const place, Put(std::move(value)));
    open_.push_back(place);
    return {};
  }
  /// Where it belongs. The address stays valid while its children are built: only then does its parent grow again.
  Result<Value*> Put(Value value) {
    KEPLER_CHECK_OK(Count(1));
    if (open_.empty()) return &(root = std::move(value));
    auto& parent = open_.back()->value;
    if (auto* const object = std::get_if<Value::Object>(&parent)) return &(object->back().value = std::move(value));
    if (const auto* const numbers = std::get_if<Value::Numbers>(&parent)) {
      KEPLER_CHECK_OK(Count(numbers->size()));
      Value::List list;
      list.reserve(numbers->size());
      for (const double number : *numbers) list.push_back(Value{number});
      parent = std::move(list);
    }
    return &std::get<Value::List>(parent).emplace_back(std::move(value));
  }
  Status Count(size_t values) {
    if (values > left_) return Fail(ErrorKind::kMalformed, fmt::format("more than {} values", max_));
    left_ -= values;
    return {};
  }

  const size_t max_;
  size_t left_;  // how many more values there may be
  std::vector<Value*> open_;
};

std::string_view KindOf(const Value& value) {
  constexpr std::string_view kKinds[] = {"null",   "true or false", "a number", "a text",
                                         "a list", "a list",        "an object"};
  return kKinds[value.value.index()];
}

/// Appends the path from `from` to `wanted` to `path`; false if it is not in there.
bool FindPath(const Value& from, const Value* wanted, std::string& path) {
  if (&from == wanted) return true;
  const size_t length = path.size();
  if (const auto* const object = std::get_if<Value::Object>(&from.value))
    for (const auto& [key, value] : *object) {
      path += path.empty() ? key : "." + key;
      if (FindPath(value, wanted, path)) return true;
      path.resize(length);
    }
  if (const auto* const list = std::get_if<Value::List>(&from.value))
    for (size_t i = 0; i < list->size(); ++i) {
      path += fmt::format("[{}]", i);
      if (FindPath((*list)[i], wanted, path)) return true;
      path.resize(length);
    }
  return false;
}

}  // namespace

Result<Value> Parse(std::string_view text, size_t max_values) {
  TreeBuilder builder(max_values);
  Stream stream(builder);
  KEPLER_CHECK_OK(stream.Read(text));
  KEPLER_CHECK_OK(stream.Finish());
  return std::move(builder.root);
}

std::string Cursor::Path() const {
  std::string path;
  FindPath(*root_, value_, path);
  return path;
}

std::unexpected<Error> Cursor::Refuse(std::string_view reason) const {
  const std::string path = Path();
  return Fail(ErrorKind::kMalformed, path.empty() ? std::string(reason) : fmt::format("{}: {}", path, reason));
}

std::unexpected<Error> Cursor::RefuseKind(std::string_view wanted) const {
  return Refuse(fmt::format("expected {}, found {}", wanted, KindOf(*value_)));
}

Result<const Value::Object*> Cursor::Members() const {
  if (const auto* const object = std::get_if<Value::Object>(&value_->value)) return object;
  return RefuseKind("an object");
}

Result<std::vector<Cursor>> Cursor::Elements() const {
  const auto* const numbers = std::get_if<Value::Numbers>(&value_->value);
  const auto* const list = std::get_if<Value::List>(&value_->value);
  if (list == nullptr && (numbers == nullptr || !numbers->empty()))
    return RefuseKind(numbers == nullptr ? "a list" : "a list with values that are not numbers");
  std::vector<Cursor> elements;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) elements.push_back(At((*list)[i]));
  return elements;
}

Result<std::span<const double>> Cursor::Numbers() const {
  if (const auto* const numbers = std::get_if<Value::Numbers>(&value_->value)) return std::span(*numbers);
  if (const auto* const list = std::get_if<Value::List>(&value_->value))
    for (const Value& value : *list) KEPLER_CHECK_OK(At(value).Number());
  return RefuseKind("a list of numbers");
}

Result<double> Cursor::Number() const {
  if (const auto* const number = std::get_if<double>(&value_->value)) return *number;
  return RefuseKind("a number");
}

Result<bool> Cursor::Bool() const {
  if (const auto* const truth = std::get_if<bool>(&value_->value)) return *truth;
  return RefuseKind("true or false");
}

Result<std::string_view> Cursor::Text() const {
  if (const auto* const text = std::get_if<std::string>(&value_->value)) return *text;
  return RefuseKind("a text");
}

Result<std::vector<std::string>> Cursor::Texts() const {
  KEPLER_TRY(const auto elements, Elements());
  std::vector<std::string> texts;
  texts.reserve(elements.size());
  for (const Cursor& element : elements) {
    KEPLER_TRY(const std::string_view text, element.Text());
    texts.emplace_back(text);
  }
  return texts;
}

Result<uint64_t> Cursor::Count(uint64_t max) const {
  KEPLER_TRY(const double number, Number());
  if (!(number >= 0 && number <= static_cast<double>(max)) || number != std::floor(number))
    return Refuse(fmt::format("{} is not a whole number from 0 to {}", number, max));
  return static_cast<uint64_t>(number);
}

Result<std::optional<Cursor>> Cursor::Find(std::string_view key) const {
  KEPLER_TRY(const auto* const members, Members());
  const auto found = std::ranges::find(*members, key, &json::Member::key);
  return found == members->end() ? std::nullopt : std::optional(At(found->value));
}

Result<Cursor> Cursor::Member(std::string_view key) const {
  KEPLER_TRY(auto found, Find(key));
  if (!found) return Refuse(fmt::format("\"{}\" is missing", key));
  return *std::move(found);
}

Result<std::vector<Cursor>> Cursor::Elements(std::string_view key) const {
  KEPLER_TRY(const Cursor at, Member(key));
  return at.Elements();
}
Result<std::span<const double>> Cursor::Numbers(std::string_view key) const {
  KEPLER_TRY(const Cursor at, Member(key));
  return at.Numbers();
}
Result<double> Cursor::Number(std::string_view key) const {
  KEPLER_TRY(const Cursor at, Member(key));
  return at.Number();
}
Result<std::string_view> Cursor::Text(std::string_view key) const {
  KEPLER_TRY(const Cursor at, Member(key));
  return at.Text();
}
Result<std::vector<std::string>> Cursor::Texts(std::string_view key) const {
  KEPLER_TRY(const Cursor at, Member(key));
  return at.Texts();
}
Result<uint64_t> Cursor::Count(std::string_view key, uint64_t max) const {
  KEPLER_TRY(const Cursor at, Member(key));
  return at.Count(max);
}

Status Cursor::OnlyKeys(std::span<const std::string_view> keys) const {
  KEPLER_TRY(const auto* const members, Members());
  for (const auto& [key, unused] : *members) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    const std::string_view nearest = NearestName(key, keys);
    return Refuse(fmt::format("unknown key \"{}\"{}", EscapeControls(key.substr(0, 40)),
                              nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest)));
  }
  return {};
}

std::string QuoteList(std::span<const std::string> texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? "," : "") + Quote(text);
  return list += ']';
}

}  // namespace kepler::json
