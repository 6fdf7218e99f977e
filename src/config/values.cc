#include "config/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/duration.h"
#include "base/parse.h"
#include "base/secret.h"
#include "base/text.h"
#include "config/chip_rules.h"

namespace kepler::config {
namespace {

/// Decimal only. A leading zero means octal to some readers and nothing to others, so it is refused; of a YAML file,
/// whose readers agree, yaml_scalar.h makes it decimal first.
Status SetInteger(const Key& key, int64_t& value, std::string_view text) {
  const bool signed_text = text.starts_with('-') || text.starts_with('+');
  const std::string_view digits = text.substr(signed_text ? 1 : 0);
  const bool whole = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!whole || (digits.size() > 1 && digits.front() == '0'))
    return Fail(ErrorKind::kInvalid,
                fmt::format("{} is not a whole number{}{}", Quote(text), key.unit.empty() ? "" : " of ", key.unit));
  const auto number = ParseNumber<int64_t>(text.starts_with('+') ? digits : text);
  if (!number) return Fail(ErrorKind::kInvalid, fmt::format("{} does not fit in 64 bits", Quote(text)));
  value = *number;
  return {};
}

Status SetReal(double& value, std::string_view text) {
  const auto number = ParseNumber<double>(text.starts_with('+') ? text.substr(1) : text);
  if (!number || !std::isfinite(*number))
    return Fail(ErrorKind::kInvalid, fmt::format("{} is not a number", Quote(text)));
  value = *number;
  return {};
}

/// Adds what `text` names, one level or several with commas between.
Status AddLevels(uint32_t& levels, std::string_view text) {
  Splitter names(text, ',');
  while (const auto part = names.Next()) {
    const std::string name = ToLowerAscii(Trim(*part));
    const auto known = std::ranges::find(Levels(), std::string_view(name), &Level::name);
    if (known != Levels().end()) {
      levels |= known->bit;
      continue;
    }
    if (name == "all") {
      levels |= kLevelAll;
      continue;
    }
    std::vector<std::string_view> choices;
    for (const Level& level : Levels()) choices.push_back(level.name);
    choices.emplace_back("all");
    return Fail(ErrorKind::kInvalid, NotOneOf(Trim(*part), choices));
  }
  return {};
}

struct TextSetter {
  const Key& key;
  std::string_view text;

  Status operator()(bool* value) const {
    const auto parsed = ParseBool(text);
    if (!parsed) return Fail(ErrorKind::kInvalid, fmt::format("{} is neither true nor false", Quote(text)));
    *value = *parsed;
    return {};
  }
  Status operator()(int64_t* value) const { return SetInteger(key, *value, text); }
  Status operator()(double* value) const { return SetReal(*value, text); }
  Status operator()(Duration* value) const {
    KEPLER_TRY(*value, ParseDuration(text));
    return {};
  }
  Status operator()(std::string* value) const {
    *value = text;
    return {};
  }
  template <class List>
  Status operator()(List*) const {
    return Fail(ErrorKind::kInvalid, "must be a list");
  }
};

struct ListSetter {
  std::span<const std::string> texts;

  Status operator()(Strings* value) const {
    value->assign(texts.begin(), texts.end());
    return {};
  }
  Status operator()(uint32_t* value) const {
    uint32_t levels = texts.empty() ? uint32_t{kLevelAll} : 0;
    for (const std::string& text : texts) KEPLER_CHECK_OK(AddLevels(levels, text));
    *value = levels;
    return {};
  }
  template <class Scalar>
  Status operator()(Scalar*) const {
    return Fail(ErrorKind::kInvalid, "must not be a list");
  }
};

/// True where a YAML reader takes the bare text for a text, in block and in flow style, and no other type is meant.
bool ReadsAsText(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto safe = [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '_' || c == '-';
  };
  if (text.empty() || !(letter(text.front()) || text.front() == '/')) return false;
  return std::ranges::all_of(text, safe) && !ParseBool(text) && ToLowerAscii(text) != "null";
}

template <class Items, class ShowItem>
std::string ShowList(const Items& items, ShowItem show) {
  std::string out;
  for (const auto& item : items) out += fmt::format("{}{}", out.empty() ? "" : ", ", show(item));
  return "[" + out + "]";
}

struct Shower {
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(const int64_t* value) const { return fmt::format("{}", *value); }
  std::string operator()(const double* value) const { return fmt::format("{}", *value); }
  std::string operator()(const Duration* value) const { return FormatDuration(*value); }
  std::string operator()(const std::string* value) const { return ShowText(*value); }
  std::string operator()(const Strings* value) const { return ShowList(*value, ShowText); }
  std::string operator()(const uint32_t* value) const {
    Strings names;
    for (const Level& level : Levels())
      if ((*value & level.bit) != 0) names.emplace_back(level.name);
    return ShowList(names, ShowText);
  }
  std::string operator()(const ChipRules* value) const { return ShowList(*value, ShowChipRule); }
};

}  // namespace

std::string Quote(std::string_view text) {
  constexpr size_t kMaxShownText = 80;
  return fmt::format("\"{}\"", ShowUnlessSecret(text, kMaxShownText));
}

namespace {

/// No key takes one. Refused before anything else can quote it.
Status RefuseSecret(std::string_view text) {
  if (!LooksSecret(text)) return {};
  return Fail(ErrorKind::kInvalid,
              "what stands here looks like the text of a key, a certificate or a hash (not shown)");
}

}  // namespace

Status SetText(const Key& key, Config& config, std::string_view text) {
  if (!key.is_path) KEPLER_CHECK_OK(RefuseSecret(text));
  return std::visit(TextSetter{key, text}, key.field(config));
}

Status SetTexts(const Key& key, Config& config, std::span<const std::string> texts) {
  for (const std::string& text : texts) KEPLER_CHECK_OK(RefuseSecret(text));
  return std::visit(ListSetter{texts}, key.field(config));
}

std::string NotOneOf(std::string_view text, std::span<const std::string_view> choices) {
  const std::string_view nearest = NearestName(ToLowerAscii(text), choices);
  return fmt::format("{} is not one of {}{}{}", Quote(text), fmt::join(choices, ", "),
                     nearest.empty() ? "" : "; did you mean ", nearest);
}

std::string Show(const Key& key, const Config& config) {
  Config copy = config;  // the table's accessors give mutable fields
  return std::visit(Shower{}, key.field(copy));
}

std::string ShowText(std::string_view text) {
  if (ReadsAsText(text)) return std::string(text);
  std::string out = "\"";
  const std::string valid = SanitizeUtf8(text, std::string::npos);
  for (std::string_view rest = valid; !rest.empty();) {
    const auto [code, bytes] = FirstCharacter(rest);
    if (code == '"' || code == '\\')
      out += {'\\', rest.front()};
    else if (code == '\n')
      out += "\\n";
    else if (code == '\t')
      out += "\\t";
    else if (IsControl(code))
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
    else
      out += rest.substr(0, bytes);
    rest.remove_prefix(bytes);
  }
  return out + "\"";
}

}  // namespace kepler::config
