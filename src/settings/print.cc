#include "settings/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "settings/values.h"

namespace kepler::settings {
namespace {

/// Returns true if a YAML reader reads the bare text as text of no other type, in block and in flow style.
bool ReadsAsText(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto safe = [&](char c) { return letter(c) || IsDigit(c) || c == '/' || c == '.' || c == '_' || c == '-'; };
  if (text.empty() || !(letter(text.front()) || text.front() == '/')) return false;
  return std::ranges::all_of(text, safe) && !ParseBool(text) && ToLowerAscii(text) != "null";
}

/// Hides user and password, and everything after "?", which often has a token.
std::string HideUrlSecrets(std::string_view text) {
  constexpr std::string_view kHidden = "***";
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  std::string url(text);
  if (const size_t query = url.find('?'); query != std::string::npos)
    url.replace(query + 1, std::string::npos, kHidden);
  const size_t begin = scheme + 3;
  const size_t at = std::string_view(url).substr(0, url.find_first_of("/?#", begin)).rfind('@');
  if (at != std::string_view::npos && at >= begin) url.replace(begin, at - begin, kHidden);
  return url;
}

/// Returns the text as a YAML scalar.
std::string ShowText(std::string_view text) { return ReadsAsText(text) ? std::string(text) : QuoteJson(text); }

struct Shower {
  const Key& key;
  bool hide_secrets;

  std::string operator()(bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(Duration* value) const { return FormatDuration(*value); }
  std::string operator()(std::string* value) const {
    if (key.details.secret) return ShowText("(not shown)");
    return ShowText(hide_secrets ? HideUrlSecrets(*value) : *value);
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

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  Splitter splitter(path, '.');
  while (const auto part = splitter.Next()) parts.push_back(*part);
  return parts;
}

/// Returns "    key: " lines for the blocks that are not open yet. `open` is the path of the previous line.
std::string Indented(const std::vector<std::string_view>& open, const std::vector<std::string_view>& path) {
  size_t shared = 0;
  while (shared + 1 < path.size() && shared + 1 < open.size() && open[shared] == path[shared]) ++shared;
  std::string out;
  for (size_t i = shared; i < path.size(); ++i)
    out += fmt::format("{:{}}{}:{}", "", 2 * i, path[i], i + 1 < path.size() ? "\n" : " ");
  return out;
}

/// Returns "--[no-]kube.enable", "--metrics=ITEM ...", or "--log.level=info" with the default, as kingpin. A required
/// flag has no default to show.
std::string Synopsis(const Key& key) {
  if (IsBool(key)) return fmt::format("--[no-]{}", key.flag);
  if (IsList(key)) return fmt::format("--{}=ITEM ...", key.flag);
  if (key.details.required) return fmt::format("--{}={}", key.flag, key.details.is_path ? "PATH" : "TEXT");
  return fmt::format("--{}={}", key.flag, Show(key, Default(key)));
}

std::string Explanation(const Key& key) {
  std::string out = Meaning(key);
  if (!key.details.choices.empty()) out += fmt::format(" ({})", fmt::join(key.details.choices, ", "));
  if (key.details.required)
    out += " (required)";
  else if (IsBool(key) || IsList(key))
    out += fmt::format(" (default {})", Show(key, Default(key)));
  if (!key.details.alias.empty()) out += fmt::format("; also --{}", key.details.alias);
  return out;
}

/// Formats two columns, as kingpin. If a flag is too long for its column, its text is on the next line.
std::string HelpLine(std::string_view synopsis, std::string_view explanation) {
  constexpr size_t kColumn = 34;
  if (synopsis.size() + 2 > kColumn) return fmt::format("  {}\n  {:{}}{}\n", synopsis, "", kColumn, explanation);
  return fmt::format("  {:{}}{}\n", synopsis, kColumn, explanation);
}

}  // namespace

std::string Show(const Key& key, const Field& field, bool hide_secrets) {
  return std::visit(Shower{key, hide_secrets}, field);
}

std::string Print(const Values& values, bool hide_secrets) {
  std::string out;
  std::vector<std::string_view> open;
  for (const Key& key : values.keys) {
    std::vector<std::string_view> path = SplitPath(key.path);
    out += fmt::format("{}{}\n", Indented(open, path), Show(key, key.place.of(values.whole), hide_secrets));
    open = std::move(path);
  }
  return out;
}

std::string ShowValue(const Values& values, std::string_view path) {
  const Key& key = KeyAt(values.keys, path);
  return Show(key, key.place.of(values.whole));
}

std::string HelpText(std::span<const Key> keys, std::string_view program, std::string_view about,
                     std::span<const CommandFlag> commands) {
  std::string arguments;
  for (const Key& key : keys)
    if (key.details.argument)
      arguments += fmt::format(" {}<{}>{}", key.details.required ? "" : "[", key.flag, key.details.required ? "" : "]");
  std::string out = fmt::format("usage: {} [<flags>]{}\n\n{}\n\nFlags:\n", program, arguments, about);
  for (const CommandFlag& flag : commands) {
    const std::string value = flag.value.empty() ? "" : fmt::format("={}", flag.value);
    const std::string also = flag.alias.empty() ? "" : fmt::format("; also --{}", flag.alias);
    out += HelpLine(fmt::format("--{}{}", flag.name, value), fmt::format("{}{}", flag.help, also));
  }
  for (const Key& key : keys)
    if (!key.flag.empty() && !IsForDevelopment(key)) out += HelpLine(Synopsis(key), Explanation(key));
  return out;
}

std::vector<std::string_view> ChangedKeys(const Values& before, const Values& after) {
  std::vector<std::string_view> changed;
  for (const Key& key : before.keys)
    if (Show(key, key.place.of(before.whole)) != Show(key, key.place.of(after.whole))) changed.push_back(key.path);
  return changed;
}

}  // namespace kepler::settings
