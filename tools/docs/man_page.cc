#include "tools/docs/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "settings/flags.h"
#include "settings/print.h"

namespace kepler::docs {
namespace {

using namespace settings;

constexpr std::string_view kSection = ".SH OPTIONS\n";

constexpr std::string_view kIntroduction =
    R"(.\" Made by kepler_config_docs from src/apps/kepler/table.cc: run tools/docs.sh.
Durations are written as 500ms, 5s or 1m30s. A flag that takes an
.I ITEM
may be repeated. Key is the name in the file of
.BR \-\-config.file .
)";

/// `text` as troff shows it: every dash as it is typed, and no line that is a request.
std::string Troff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text)
    if (c == '-')
      out += "\\-";
    else if (c == '\\')
      out += "\\e";
    else
      out += c;
  return out;
}

/// What stands for the value in "--flag=VALUE".
std::string ValueName(const Key& key) {
  if (!key.details.choices.empty()) return fmt::format("{}", fmt::join(key.details.choices, "|"));
  if (IsList(key)) return "ITEM";
  const std::string type = TypeName(key);
  return type == "duration" ? "DURATION" : type == "text" ? "TEXT" : "NUMBER";
}

std::string Entry(std::string_view flag, std::string_view value, std::string_view meaning) {
  const std::string head =
      value.empty() ? fmt::format(".B {}", Troff(flag)) : fmt::format(".BI {}= {}", Troff(flag), Troff(value));
  return fmt::format(".TP\n{}\n{}.\n", head, Troff(meaning));
}

std::string Also(std::string_view alias) { return alias.empty() ? "" : fmt::format("; also --{}", alias); }

std::string Options(std::span<const Key> keys) {
  std::string out(kIntroduction);
  for (const CommandFlag& flag : CommandFlags())
    out += Entry(fmt::format("--{}", flag.name), flag.value, fmt::format("{}{}", flag.help, Also(flag.alias)));
  for (const Key& key : keys) {
    if (key.flag.empty() || IsForDevelopment(key)) continue;
    const std::string name = fmt::format("--{}{}", IsBool(key) ? "[no-]" : "", key.flag);
    const std::string meaning = fmt::format("{} (default {}){}. Key: {}", Meaning(key), Show(key, Default(key)),
                                            Also(key.details.alias), key.path);
    out += Entry(name, IsBool(key) ? "" : ValueName(key), meaning);
  }
  return out;
}

}  // namespace

std::string WithOptions(std::string_view page, std::span<const settings::Key> keys) {
  const size_t section = page.find(kSection);
  if (section == std::string_view::npos) return std::string(page);
  const size_t begin = section + kSection.size();
  const size_t end = std::min(page.find(".SH ", begin), page.size());
  return fmt::format("{}{}{}", page.substr(0, begin), Options(keys), page.substr(end));
}

}  // namespace kepler::docs
