#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "settings/values.h"

namespace kepler::settings {
namespace {

/// True where a YAML reader takes the bare text for a text, in block and in flow style, and no other type is meant.
bool ReadsAsText(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto safe = [&](char c) { return letter(c) || IsDigit(c) || c == '/' || c == '.' || c == '_' || c == '-'; };
  if (text.empty() || !(letter(text.front()) || text.front() == '/')) return false;
  return std::ranges::all_of(text, safe) && !ParseBool(text) && ToLowerAscii(text) != "null";
}

std::string HideCredentials(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const size_t begin = scheme + 3;
  const std::string_view authority = url.substr(begin, url.find('/', begin) - begin);
  const size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return fmt::format("{}***{}", url.substr(0, begin), url.substr(begin + at));
}

struct Shower {
  const Key& key;
  bool hide_secrets;

  std::string operator()(bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(Duration* value) const { return FormatDuration(*value); }
  std::string operator()(std::string* value) const {
    if (hide_secrets && key.details.secret) return ShowText("(not shown)");
    return ShowText(hide_secrets ? HideCredentials(*value) : *value);
  }
  std::string operator()(uint8_t* value) const { return ShowText(key.details.choices[*value]); }
  std::string operator()(uint32_t* value) const {
    Strings names;
    for (size_t i = 0; i < key.details.choices.size(); ++i)
      if ((*value >> i & 1u) != 0) names.push_back(ShowText(key.details.choices[i]));
    return fmt::format("[{}]", fmt::join(names, ", "));
  }
  std::string operator()(const Several& several) const {
    Strings items;
    several.each(several.values, [&](const Field& name, const Field& item) {
      const std::string before = several.keyed ? Show(key, name) + ": " : "";
      items.push_back(before + Show(key, item, hide_secrets));
    });
    const std::string all = fmt::format("{}", fmt::join(items, ", "));
    return several.keyed ? "{" + all + "}" : "[" + all + "]";
  }
  std::string operator()(const Block& block) const {
    Strings entries;
    for (const Key& own : key.details.items->keys)
      entries.push_back(fmt::format("{}: {}", own.path, Show(own, own.place.of(block.values), hide_secrets)));
    return fmt::format("{{{}}}", fmt::join(entries, ", "));
  }
  template <class Number>
  std::string operator()(Number* value) const {
    return fmt::format("{}", *value);
  }
};

}  // namespace

std::string Show(const Key& key, const Field& field, bool hide_secrets) {
  return std::visit(Shower{key, hide_secrets}, field);
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

}  // namespace kepler::settings
