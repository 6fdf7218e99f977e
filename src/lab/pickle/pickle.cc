#include "lab/pickle/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "lab/pickle/nodes.h"

namespace kepler::lab::pickle {
namespace {

using json::Value;
using Kind = Node::Kind;

constexpr size_t kMaxDepth = 32;  // of the tree, as in JSON
/// Of the tree: values that are shared in the pickle are copies in it.
constexpr size_t kMaxTreeBytes = size_t{64} << 20;

/// Copies values into a tree.
class Planter {
 public:
  explicit Planter(const Source& source) : source_(source) {}

  Result<Value> Plant(const Node& node, size_t depth) {
    const size_t bytes = sizeof(Value) + node.text.size() + (node.items.size() + node.numbers.size()) * sizeof(double);
    if (depth == kMaxDepth || bytes > left_) return source_.Refuse("its values are nested too deep, or too many");
    left_ -= bytes;
    switch (node.kind) {
      case Kind::kNone:
        return Value{nullptr};
      case Kind::kNumber:
        return Value{node.number};
      case Kind::kText:
      case Kind::kName:
        return Value{node.text};
      case Kind::kNumbers:
        return Value{node.numbers};
      case Kind::kList:
        return List(node, depth);
      case Kind::kDict: {
        Value::Object object;
        KEPLER_CHECK_OK(AddMembers(node, depth, object));
        return Value{std::move(object)};
      }
      case Kind::kObject:
        break;
    }
    return Object(node, depth);
  }

 private:
  Result<Value> List(const Node& node, size_t depth) {
    const auto number = [&](Id id) { return source_[id].kind == Kind::kNumber; };
    if (std::ranges::all_of(node.items, number)) {
      Value::Numbers numbers;
      for (const Id id : node.items) numbers.push_back(source_[id].number);
      return Value{std::move(numbers)};
    }
    Value::List list;
    for (const Id id : node.items) {
      KEPLER_TRY(Value value, Plant(source_[id], depth + 1));
      list.push_back(std::move(value));
    }
    return Value{std::move(list)};
  }

  Status AddMembers(const Node& dict, size_t depth, Value::Object& to) {
    for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const Node& key = source_[dict.items[i]];
      if (key.kind != Kind::kText || !IsValidUtf8(key.text)) return source_.Refuse("a key of a dict is not a text");
      KEPLER_TRY(Value name, Plant(key, depth + 1));
      KEPLER_TRY(Value value, Plant(source_[dict.items[i + 1]], depth + 1));
      to.push_back({std::get<std::string>(std::move(name.value)), std::move(value)});
    }
    return {};
  }

  Result<Value> Object(const Node& node, size_t depth) {
    Value::Object object = {{"class", Value{node.text}}};
    for (size_t i = 0; i < node.items.size(); ++i) {
      const Node& part = source_[node.items[i]];
      if (i == 1 && part.kind == Kind::kDict) {
        KEPLER_CHECK_OK(AddMembers(part, depth, object));
      } else if (i == 1 || !part.items.empty()) {
        KEPLER_TRY(Value value, Plant(part, depth + 1));
        object.push_back({i == 0 ? "arguments" : "state", std::move(value)});
      }
    }
    return Value{std::move(object)};
  }

  const Source& source_;
  size_t left_ = kMaxTreeBytes;
};

}  // namespace

Result<json::Value> ReadPickle(std::string_view bytes) {
  Source source(bytes);
  KEPLER_TRY(const Id root, ReadOne(source));
  if (!source.IsAtEnd()) return source.Refuse("bytes follow the end");
  return Planter(source).Plant(source[root], 0);
}

}  // namespace kepler::lab::pickle
