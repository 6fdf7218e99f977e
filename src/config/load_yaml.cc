#include "config/load_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "config/chip_rules.h"
#include "config/values.h"
#include "config/yaml_scalar.h"
#include "yaml/value.h"

namespace kepler::config {
namespace {

using Kind = yaml::Value::Kind;

std::string Join(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

std::optional<size_t> FindKey(std::string_view path) {
  const auto it = std::ranges::find(Keys(), path, &Key::path);
  if (it == Keys().end()) return std::nullopt;
  return static_cast<size_t>(it - Keys().begin());
}

/// The names that stand directly below `prefix`.
std::vector<std::string_view> Children(std::string_view prefix) {
  std::vector<std::string_view> names;
  for (const Key& key : Keys()) {
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

/// The key that was perhaps meant by `name` below `prefix`: a neighbour spelled alike, the same name in another block,
/// or a neighbour that contains the name.
std::string Suggest(std::string_view prefix, std::string_view name) {
  const std::vector<std::string_view> neighbours = Children(prefix);
  if (const auto nearest = NearestName(name, neighbours); !nearest.empty()) return Join(prefix, nearest);
  for (const Key& key : Keys())
    if (key.path.substr(key.path.rfind('.') + 1) == name) return std::string(key.path);
  constexpr size_t kTellingLength = 4;
  if (name.size() < kTellingLength) return {};
  for (const std::string_view neighbour : neighbours)
    if (ToLowerAscii(neighbour).find(ToLowerAscii(name)) != std::string::npos) return Join(prefix, neighbour);
  return {};
}

class Loader {
 public:
  explicit Loader(Draft& draft) : draft_(draft) {}

  void LoadBlock(std::string_view prefix, const yaml::Value& map) {
    for (size_t i = 0; i < map.keys.size(); ++i) LoadEntry(prefix, map.keys[i], map.items[i]);
  }

 private:
  void LoadEntry(std::string_view prefix, const yaml::Key& key, const yaml::Value& value) {
    const std::string path = Join(prefix, key.text);
    if (key.text.find('.') != std::string::npos)
      return draft_.Unknown(key.line, path, Suggest({}, key.text), "write blocks, not dots");
    if (const auto known = FindKey(path)) return LoadKey(*known, key.line, value);
    if (Children(path).empty()) return draft_.Unknown(key.line, path, Suggest(prefix, key.text));
    if (value.kind == Kind::kMap)
      LoadBlock(path, value);
    else if (value.kind != Kind::kNull)
      draft_.RejectLine(key.line, path, "must be a block of keys");
  }

  void LoadKey(size_t index, int line, const yaml::Value& value) {
    const Key& key = Keys()[index];
    Config& config = draft_.config;
    if (std::holds_alternative<ChipRules*>(key.field(config))) return LoadChipRules(draft_, value, line);
    if (!IsList(key) && value.kind == Kind::kNull) return;
    draft_.origin(index) = {.from = From::kFile, .line = line, .item_lines = {}, .flag = {}};
    if (!IsList(key))
      LoadScalar(index, value);
    else
      LoadList(index, value);
  }

  void LoadScalar(size_t index, const yaml::Value& value) {
    const Key& key = Keys()[index];
    if (value.kind != Kind::kScalar) return draft_.Reject(index, fmt::format("must be a {}", TypeName(key)));
    const auto plain = ReadScalar(key, value);
    const Status set = plain ? SetText(key, draft_.config, plain->text) : Status(std::unexpected(plain.error()));
    if (!set) return draft_.Reject(index, set.error().message);
    if (plain->cut)
      draft_.Warn(fmt::format("{}: {} is read as {}; write a whole number{}{}", draft_.Where(index), Quote(value.text),
                              plain->text, key.unit.empty() ? "" : " of ", key.unit));
  }

  void LoadList(size_t index, const yaml::Value& value) {
    const Key& key = Keys()[index];
    Strings texts;
    if (value.kind == Kind::kList) {
      for (const yaml::Value& item : value.items) {
        draft_.origin(index).item_lines.push_back(item.line);
        if (item.kind != Kind::kScalar) return draft_.Reject(index, "must be a list of texts", texts.size());
        texts.push_back(item.text);
      }
    } else if (value.kind == Kind::kScalar && std::holds_alternative<uint32_t*>(key.field(draft_.config))) {
      texts.push_back(value.text);
    } else if (value.kind != Kind::kNull) {
      return draft_.Reject(index, "must be a list, for example [a, b]");
    }
    if (const Status set = SetTexts(key, draft_.config, texts); !set) draft_.Reject(index, set.error().message);
  }

  Draft& draft_;
};

}  // namespace

void LoadYaml(Draft& draft, const std::string& text) {
  const auto root = yaml::Parse(text);
  if (!root) return draft.RejectLine(root.error().line, {}, root.error().message);
  if (root->kind == Kind::kNull) return;
  if (root->kind != Kind::kMap) return draft.RejectLine(root->line, {}, "the file must hold a block of keys");
  Loader(draft).LoadBlock({}, *root);
}

}  // namespace kepler::config
