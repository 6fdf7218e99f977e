#include "settings/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/parse.h"
#include "settings/flags.h"
#include "settings/values.h"

namespace kepler::settings {
namespace {

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  Splitter splitter(path, '.');
  while (const auto part = splitter.Next()) parts.push_back(*part);
  return parts;
}

/// "    key: " under the blocks that are not open yet; `open` is the path of the line before.
std::string Indented(const std::vector<std::string_view>& open, const std::vector<std::string_view>& path) {
  size_t shared = 0;
  while (shared + 1 < path.size() && shared + 1 < open.size() && open[shared] == path[shared]) ++shared;
  std::string out;
  for (size_t i = shared; i < path.size(); ++i)
    out += fmt::format("{:{}}{}:{}", "", 2 * i, path[i], i + 1 < path.size() ? "\n" : " ");
  return out;
}

/// "--[no-]kube.enable", "--metrics=ITEM ...", or "--log.level=info" with the default, as kingpin.
std::string Synopsis(const Key& key) {
  if (IsBool(key)) return fmt::format("--[no-]{}", key.flag);
  if (IsList(key)) return fmt::format("--{}=ITEM ...", key.flag);
  return fmt::format("--{}={}", key.flag, Show(key, Default(key)));
}

std::string Explanation(const Key& key) {
  std::string out = Meaning(key);
  if (!key.details.choices.empty()) out += fmt::format(" ({})", fmt::join(key.details.choices, ", "));
  if (IsBool(key) || IsList(key)) out += fmt::format(" (default {})", Show(key, Default(key)));
  if (!key.details.alias.empty()) out += fmt::format("; also --{}", key.details.alias);
  return out;
}

/// Two columns, as kingpin: a flag that is too long for its column has its text in the next line.
std::string HelpLine(std::string_view synopsis, std::string_view explanation) {
  constexpr size_t kColumn = 34;
  if (synopsis.size() + 2 > kColumn) return fmt::format("  {}\n  {:{}}{}\n", synopsis, "", kColumn, explanation);
  return fmt::format("  {:{}}{}\n", synopsis, kColumn, explanation);
}

}  // namespace

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

std::string HelpText(std::span<const Key> keys, std::string_view program, std::string_view about) {
  std::string out = fmt::format("usage: {} [<flags>]\n\n{}\n\nFlags:\n", program, about);
  for (const CommandFlag& flag : CommandFlags()) {
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
