#include "http/webconfig/yaml_section.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace kepler::http {
namespace {

using Kind = yaml::Value::Kind;

std::string UnknownKey(std::string_view key, std::string_view section, std::span<const std::string_view> known) {
  const auto where = section.empty() ? std::string() : fmt::format(" in {}", section);
  const auto nearest = NearestName(key, known);
  const auto hint = nearest.empty() ? fmt::format("known are {}", fmt::join(known, ", "))
                                    : fmt::format("did you mean \"{}\"?", nearest);
  return fmt::format("unknown key \"{}\"{}; {}", ShowUnlessSecret(key, 80), where, hint);
}

}  // namespace

std::unexpected<Error> RefuseAt(const std::string& path, int line, std::string_view why) {
  return Fail(ErrorKind::kInvalid, fmt::format("{}:{}: {}", path, line, why));
}

std::string KeyPlaces::Of(std::string_view key) const {
  const auto found = lines.find(key);
  return fmt::format("{}:{}: {}.{}", path, found == lines.end() ? line : found->second, section,
                     ShowUnlessSecret(key, 80));
}

std::unexpected<Error> KeyPlaces::Refuse(std::string_view key, std::string_view why) const {
  return Fail(ErrorKind::kInvalid, fmt::format("{}: {}", Of(key), why));
}

Result<YamlSection> YamlSection::Open(const yaml::Value* value, const std::string& path, std::string_view name,
                                      std::span<const std::string_view> known) {
  YamlSection section;
  section.places_ = {.path = path, .section = std::string(name), .lines = {}};
  if (value == nullptr || value->kind == Kind::kNull) return section;
  section.places_.line = value->line;
  if (value->kind != Kind::kMap)
    return RefuseAt(path, value->line, fmt::format("{} must be a mapping", name.empty() ? "the file" : name));
  for (const auto& key : value->keys) {
    if (!known.empty() && std::ranges::find(known, key.text) == known.end())
      return RefuseAt(path, key.line, UnknownKey(key.text, name, known));
    section.places_.lines.emplace(key.text, key.line);
  }
  section.keys_ = value->keys;
  section.values_ = value->items;
  return section;
}

const yaml::Value* YamlSection::Find(std::string_view key) const {
  const auto found = std::ranges::find(keys_, key, &yaml::Key::text);
  if (found == keys_.end()) return nullptr;
  const yaml::Value& value = values_[static_cast<size_t>(found - keys_.begin())];
  return value.kind == Kind::kNull ? nullptr : &value;
}

Result<std::string> YamlSection::Text(std::string_view key) const {
  const auto* value = Find(key);
  if (value == nullptr) return std::string();
  if (value->kind != Kind::kScalar) return Refuse(key, "must be one value");
  return value->text;
}

Result<bool> YamlSection::Flag(std::string_view key, bool otherwise) const {
  KEPLER_TRY(const auto text, Text(key));
  if (text.empty()) return otherwise;
  if (const auto flag = ParseBool(text)) return *flag;
  return Refuse(key, "must be true or false");
}

Result<std::vector<std::string>> YamlSection::List(std::string_view key) const {
  std::vector<std::string> texts;
  const auto* value = Find(key);
  if (value == nullptr) return texts;
  if (value->kind != Kind::kList) return Refuse(key, "must be a list");
  for (const auto& item : value->items) {
    if (item.kind != Kind::kScalar) return Refuse(key, "must be a list of single values");
    texts.push_back(item.text);
  }
  return texts;
}

}  // namespace kepler::http
