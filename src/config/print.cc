#include "config/print.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "config/flags.h"
#include "config/schema.h"
#include "config/values.h"

namespace kepler::config {
namespace {

std::string HideCredentials(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::string(url);
  const size_t begin = scheme + 3;
  const std::string_view authority = url.substr(begin, url.find('/', begin) - begin);
  const size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  return fmt::format("{}***{}", url.substr(0, begin), url.substr(begin + at));
}

struct CredentialHider {
  void operator()(std::string* text) const { *text = HideCredentials(*text); }
  void operator()(Strings* texts) const {
    for (std::string& text : *texts) text = HideCredentials(text);
  }
  template <class Other>
  void operator()(Other*) const {}
};

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
  return fmt::format("--{}={}", key.flag, Show(key, Config{}));
}

std::string Explanation(const Key& key) {
  std::string out = Meaning(key);
  if (!key.choices.empty()) out += fmt::format(" ({})", fmt::join(key.choices, ", "));
  if (IsBool(key) || IsList(key)) out += fmt::format(" (default {})", Show(key, Config{}));
  if (!key.alias.empty()) out += fmt::format("; also --{}", key.alias);
  return out;
}

/// Two columns, as kingpin: a flag that is too long for its column has its text in the next line.
std::string HelpLine(std::string_view synopsis, std::string_view explanation) {
  constexpr size_t kColumn = 34;
  if (synopsis.size() + 2 > kColumn) return fmt::format("  {}\n  {:{}}{}\n", synopsis, "", kColumn, explanation);
  return fmt::format("  {:{}}{}\n", synopsis, kColumn, explanation);
}

}  // namespace

std::string PrintConfig(const Config& config, bool hide_secrets) {
  Config shown = config;
  std::string out;
  std::vector<std::string_view> open;
  for (const Key& key : Keys()) {
    if (hide_secrets) std::visit(CredentialHider{}, key.field(shown));
    std::vector<std::string_view> path = SplitPath(key.path);
    out += fmt::format("{}{}\n", Indented(open, path), Show(key, shown));
    open = std::move(path);
  }
  return out;
}

std::string HelpText(const std::string& program) {
  std::string out = fmt::format(
      "usage: {} [<flags>]\n\nMeasures the energy of this machine and says which process, container, pod or VM used "
      "it.\n\n"
      "Flags:\n",
      program);
  for (const CommandFlag& flag : CommandFlags()) {
    const std::string value = flag.value.empty() ? "" : fmt::format("={}", flag.value);
    const std::string also = flag.alias.empty() ? "" : fmt::format("; also --{}", flag.alias);
    out += HelpLine(fmt::format("--{}{}", flag.name, value), fmt::format("{}{}", flag.help, also));
  }
  for (const Key& key : Keys())
    if (!key.flag.empty()) out += HelpLine(Synopsis(key), Explanation(key));
  return out;
}

std::string VersionText(const std::string& program, const BuildInfo& build) {
  return fmt::format("{}, version {} (branch: {}, revision: {})\n  compiler: {}\n  platform: linux/{}\n", program,
                     build.version, build.branch, build.revision, build.compiler, build.arch);
}

}  // namespace kepler::config
