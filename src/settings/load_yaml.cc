#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "settings/draft.h"
#include "settings/values.h"
#include "settings/yaml_scalar.h"
#include "yaml/value.h"

namespace kepler::settings {
namespace {

using Kind = yaml::Value::Kind;

std::string Join(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

/// Returns the names directly below `prefix`.
std::vector<std::string_view> Children(std::span<const Key> keys, std::string_view prefix) {
  std::vector<std::string_view> names;
  for (const Key& key : keys) {
    std::string_view rest = key.path;
    if (!prefix.empty()) {
      if (!rest.starts_with(prefix) || rest.size() <= prefix.size() || rest[prefix.size()] != '.') continue;
      rest.remove_prefix(prefix.size() + 1);
    }
    const std::string_view name = rest.substr(0, rest.find('.'));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

/// Returns the key that `name` below `prefix` probably means: a key with a similar name, the same name in another
/// block, or a key that contains the name.
std::string Suggest(std::span<const Key> keys, std::string_view prefix, std::string_view name) {
  const std::vector<std::string_view> neighbours = Children(keys, prefix);
  if (const auto nearest = NearestName(name, neighbours); !nearest.empty()) return Join(prefix, nearest);
  for (const Key& key : keys)
    if (key.path.substr(key.path.rfind('.') + 1) == name) return std::string(key.path);
  constexpr size_t kTellingLength = 4;
  if (name.size() < kTellingLength) return {};
  for (const std::string_view neighbour : neighbours)
    if (ToLowerAscii(neighbour).find(ToLowerAscii(name)) != std::string::npos) return Join(prefix, neighbour);
  return {};
}

/// The whole file, or a block in one of its lists.
struct Scope {
  Draft& draft;
  Values values;
  std::string base;  // place of the block: "list[0]"
};

void LoadWhole(const Scope& scope, const yaml::Value& map);

/// Place of a value.
struct Spot {
  int line = 0;
  std::optional<size_t> item = {};  // index in the list of its key
  std::string below = {};           // for a block: path of the value below the path of its key
};

/// Loads the value of one key. Each Load returns true if there was no mistake.
class KeyLoader {
 public:
  KeyLoader(const Scope& scope, const Key& key)
      : draft_(scope.draft), key_(key), path_(Join(scope.base, key.path)), in_block_(!scope.base.empty()) {
    if (!in_block_) origin_ = &draft_.origin(key);
  }

  bool Load(const Field& field, const Spot& spot, const yaml::Value& value) {
    if (uint32_t* const* set = std::get_if<uint32_t*>(&field)) return LoadSet(*set, spot, value);
    if (const auto* several = std::get_if<Several>(&field)) return LoadSeveral(*several, spot, value);
    if (const auto* block = std::get_if<Block>(&field)) return LoadItem(*block, spot, value);
    return LoadScalar(field, spot, value);
  }

  bool Reject(const Spot& spot, std::string_view reason) {
    draft_.RejectLine(spot.line, path_, reason);
    return false;
  }
  void ComesFrom(int line) {
    if (origin_ != nullptr) *origin_ = {.from = From::kFile, .line = line};
  }

 private:
  bool LoadScalar(const Field& field, const Spot& spot, const yaml::Value& value) {
    if (value.kind != Kind::kScalar) return Reject(spot, fmt::format("must be a {}", TypeName(field)));
    const auto plain = ReadScalar(field, value);
    if (!plain) return Reject(spot, plain.error().message);
    if (const Status set = SetText(key_, field, plain->text); !set) return RejectText(field, spot, set.error().message);
    const std::string_view unit = key_.details.unit;
    if (plain->cut && in_block_) return Reject(spot, "must be a whole number");
    if (plain->cut)
      draft_.Warn(fmt::format("{}: {} is read as {}; write a whole number{}{}", draft_.Where(spot.line, path_),
                              Quote(value.text), plain->text, unit.empty() ? "" : " of ", unit));
    if (!in_block_) return true;
    const Mistakes mistakes = Check(key_, field);
    return mistakes.empty() || Reject(spot, mistakes.front().reason);
  }

  /// Rejects a text. A flag may still correct an unknown choice, so an unknown choice is not an error here.
  bool RejectText(const Field& field, const Spot& spot, std::string reason) {
    if (origin_ == nullptr || !std::holds_alternative<uint8_t*>(field)) return Reject(spot, reason);
    origin_->unknown_choices.push_back({std::move(reason), spot.item});
    return false;
  }

  bool LoadSet(uint32_t* set, const Spot& spot, const yaml::Value& value) {
    Strings texts;
    if (value.kind == Kind::kMap) return Reject(spot, "must be a list, for example [a, b]");
    if (value.kind == Kind::kScalar) texts.push_back(value.text);
    for (const yaml::Value& item : value.items) {
      if (item.kind != Kind::kScalar) return Reject({item.line}, "must be a list of texts");
      texts.push_back(item.text);
    }
    const Mistakes mistakes = SetTexts(key_, set, texts);
    return mistakes.empty() || Reject(spot, mistakes.front().reason);
  }

  bool LoadSeveral(const Several& several, const Spot& spot, const yaml::Value& value) {
    const Field sample = several.Sample();
    const bool names = std::holds_alternative<std::string*>(sample) || std::holds_alternative<uint8_t*>(sample);
    const bool texts = !several.keyed && !std::holds_alternative<Block>(sample);
    const std::string due = fmt::format("must be a {}", TypeName(several));
    if (value.kind != Kind::kNull && value.kind != (several.keyed ? Kind::kMap : Kind::kList))
      return Reject(spot, names && !several.keyed ? "must be a list, for example [a, b]" : due);
    several.clear(several.values);
    for (size_t i = 0; i < value.items.size(); ++i) {
      const yaml::Value& item = value.items[i];
      if (origin_ != nullptr && !several.keyed) origin_->item_lines.push_back(item.line);
      if (texts && item.kind != Kind::kScalar) return Reject({item.line}, due);
      const bool added = several.add(several.values, [&](const Field& key, const Field& field) {
        if (!several.keyed) return Load(field, {item.line, i, fmt::format("[{}]", i)}, item);
        const auto& [name, line] = value.keys[i];
        const bool loaded = Load(key, {line}, {.kind = Kind::kScalar, .line = line, .text = name}) &&
                            Load(field, {line, i, "." + name}, item);
        if (auto* const text = std::get_if<std::string*>(&key); loaded && origin_ != nullptr && text != nullptr)
          origin_->name_lines.emplace(**text, line);
        return loaded;
      });
      if (!added) Reject({value.keys[i].line}, fmt::format("{} is given twice", Quote(value.keys[i].text)));
    }
    return true;
  }

  bool LoadItem(const Block& block, const Spot& spot, const yaml::Value& value) {
    const Scope scope{draft_, {key_.details.items->keys, block.values}, path_ + spot.below};
    if (value.kind == Kind::kMap)
      LoadWhole(scope, value);
    else
      draft_.RejectLine(value.line, scope.base, "must be a mapping of keys to values");
    return true;
  }

  Draft& draft_;
  const Key& key_;
  const std::string path_;  // in the file
  const bool in_block_;     // no flag can follow, so everything is checked at once
  Origin* origin_ = nullptr;
};

void LoadKey(const Scope& scope, const Key& key, int line, const yaml::Value& value) {
  KeyLoader loader(scope, key);
  if (value.kind == Kind::kNull && !IsList(key)) {
    if (scope.base.empty()) scope.draft.origin(key).line = line;
    if (key.details.required && !scope.base.empty()) loader.Reject({line}, "is required");
    return;
  }
  loader.ComesFrom(line);
  loader.Load(key.place.of(scope.values.whole), {line}, value);
}

/// Loads the keys directly below `prefix`.
void LoadBlock(const Scope& scope, std::string_view prefix, const yaml::Value& map) {
  const auto keys = scope.values.keys;
  const auto unknown = [&](int line, std::string_view path, std::string_view meant, std::string_view hint = {}) {
    scope.draft.Unknown(line, Join(scope.base, path), meant.empty() ? "" : Join(scope.base, meant), hint);
  };
  for (size_t i = 0; i < map.keys.size(); ++i) {
    const auto& [name, line] = map.keys[i];
    const yaml::Value& value = map.items[i];
    const std::string path = Join(prefix, name);
    const auto key = std::ranges::find(keys, path, &Key::path);
    if (name.contains('.'))
      unknown(line, path, Suggest(keys, {}, name), "write nested keys, not dots");
    else if (key != keys.end())
      LoadKey(scope, *key, line, value);
    else if (Children(keys, path).empty())
      unknown(line, path, Suggest(keys, prefix, name));
    else if (value.kind == Kind::kMap)
      LoadBlock(scope, path, value);
    else if (value.kind != Kind::kNull)
      scope.draft.RejectLine(line, Join(scope.base, path), "must be a mapping of keys to values");
  }
}

void LoadWhole(const Scope& scope, const yaml::Value& map) {
  LoadBlock(scope, {}, map);
  for (const Key& key : scope.values.keys)
    if (key.details.required && std::ranges::find(map.keys, key.path, &yaml::Key::text) == map.keys.end())
      scope.draft.RejectLine(map.line, Join(scope.base, key.path), "is required");
}

}  // namespace

void Draft::LoadYaml(const std::string& text) {
  const auto root = yaml::Parse(text);
  if (!root) return RejectLine(root.error().line, {}, root.error().message);
  if (root->kind == Kind::kNull) return;
  if (root->kind != Kind::kMap) return RejectLine(root->line, {}, "the file must contain a mapping of keys to values");
  LoadBlock({*this, values_, {}}, {}, *root);  // a flag may still give required keys
}

}  // namespace kepler::settings
