#include "http/server/yaml_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/text.h"

namespace kepler::http {
namespace {

using Kind = YamlValue::Kind;

/// Copies a node into plain values. Anchors make nodes that share or contain themselves, hence the two bounds.
class Importer {
 public:
  explicit Importer(const std::string& path) : path_(path) {}

  Result<YamlValue> Import(const YAML::Node& node, int depth = 0) {
    constexpr int kMostValues = 10'000, kMostDepth = 32;
    YamlValue value;
    value.line = node.Mark().line + 1;
    if (++values_ > kMostValues) return RefuseAt(path_, value.line, "too many values");
    if (depth > kMostDepth) return RefuseAt(path_, value.line, "nested too deeply");
    if (node.IsScalar()) {
      value.kind = Kind::kScalar;
      value.text = node.Scalar();
    } else if (node.IsSequence()) {
      value.kind = Kind::kList;
      for (const auto& item : node) {
        KEPLER_TRY(value.items.emplace_back(), Import(item, depth + 1));
      }
    } else if (node.IsMap()) {
      value.kind = Kind::kMap;
      for (const auto& entry : node) {
        const int line = entry.first.Mark().line + 1;
        if (!entry.first.IsScalar()) return RefuseAt(path_, line, "a key must be one value");
        KEPLER_TRY(auto item, Import(entry.second, depth + 1));
        item.key = entry.first.Scalar();
        item.key_line = line;
        value.items.push_back(std::move(item));
      }
    }
    return value;
  }

 private:
  const std::string& path_;
  int values_ = 0;
};

/// Reads past a document, and remembers where it began. YAML::LoadAll would tell how many there are, but never returns
/// for a text such as "," of which its scanner consumes nothing.
class Ignore : public YAML::EventHandler {
 public:
  [[nodiscard]] int line() const { return line_; }
  void OnDocumentStart(const YAML::Mark& mark) override { line_ = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int line_ = 1;
};

std::string UnknownKey(std::string_view key, std::string_view section, std::span<const std::string_view> known) {
  const auto where = section.empty() ? std::string() : fmt::format(" in {}", section);
  const auto nearest = NearestName(key, known);
  const auto hint = nearest.empty() ? fmt::format("known are {}", fmt::join(known, ", "))
                                    : fmt::format("did you mean \"{}\"?", nearest);
  return fmt::format("unknown key \"{}\"{}; {}", SanitizeUtf8(key, 80), where, hint);
}

}  // namespace

std::unexpected<Error> RefuseAt(const std::string& path, int line, std::string_view why) {
  return Fail(ErrorKind::kInvalid, fmt::format("{}:{}: {}", path, line, why));
}

Result<YamlValue> ParseYaml(std::string_view text, const std::string& path) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Ignore ignore;
    if (parser.HandleNextDocument(ignore) && parser.HandleNextDocument(ignore)) {
      return RefuseAt(path, ignore.line(), "one YAML document is expected; something stands before or after it");
    }
    return Importer(path).Import(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    return RefuseAt(path, std::max(e.mark.line, 0) + 1, e.msg);  // the null mark is -1
  }
}

Result<YamlSection> YamlSection::Open(const YamlValue* value, const std::string& path, std::string_view name,
                                      std::span<const std::string_view> known) {
  YamlSection section;
  section.path_ = path;
  section.name_ = name;
  if (value == nullptr || value->kind == Kind::kNull) return section;
  section.line_ = value->line;
  if (value->kind != Kind::kMap) {
    return RefuseAt(path, value->line, fmt::format("{} must be a mapping", name.empty() ? "the file" : name));
  }
  std::set<std::string_view> seen;
  for (const auto& entry : value->items) {
    if (!known.empty() && std::ranges::find(known, entry.key) == known.end()) {
      return RefuseAt(path, entry.key_line, UnknownKey(entry.key, name, known));
    }
    if (!seen.insert(entry.key).second) {
      return RefuseAt(path, entry.key_line, fmt::format("\"{}\" stands here twice", SanitizeUtf8(entry.key, 80)));
    }
  }
  section.entries_ = value->items;
  return section;
}

const YamlValue* YamlSection::Find(std::string_view key) const {
  const auto found = std::ranges::find(entries_, key, &YamlValue::key);
  return found == entries_.end() || found->kind == Kind::kNull ? nullptr : &*found;
}

std::unexpected<Error> YamlSection::Refuse(std::string_view key, std::string_view why) const {
  const auto found = std::ranges::find(entries_, key, &YamlValue::key);
  const int line = found == entries_.end() ? line_ : found->key_line;
  return RefuseAt(path_, line, fmt::format("{}.{}: {}", name_, key, why));
}

Result<std::string> YamlSection::Text(std::string_view key) const {
  const auto* value = Find(key);
  if (value == nullptr) return std::string();
  if (value->kind != Kind::kScalar) return Refuse(key, "must be one value");
  return value->text;
}

Result<bool> YamlSection::Flag(std::string_view key, bool otherwise) const {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "on", "y"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "off", "n"};
  KEPLER_TRY(const auto text, Text(key));
  if (text.empty()) return otherwise;
  const auto lower = ToLowerAscii(text);
  if (std::ranges::find(kTrue, lower) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, lower) != kFalse.end()) return false;
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
