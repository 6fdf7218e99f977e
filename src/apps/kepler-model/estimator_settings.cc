#include "apps/kepler-model/estimator_settings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "model_store/place.h"
#include "model_store/server_environment.h"
#include "settings/addresses.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

constexpr std::string_view kLogLevels[] = {"debug"sv, "info"sv, "warn"sv, "error"sv};
constexpr std::string_view kLogFormats[] = {"text"sv, "json"sv};
constexpr int64_t kShortestRefresh = 60'000'000'000;
constexpr int64_t kLongestRefresh = 1440 * kShortestRefresh;
constexpr unsigned kMaxMode = 0777;

constexpr Key kEstimatorKeys[] = {
    Key("socket", "socket", "Unix socket; agents of Kepler 0.7 expect /tmp/estimator.sock", kAt<&Estimating::socket>,
        {.is_path = true}),
    Key("socket-mode", "socket-mode", "Mode of the socket, octal. Users with write permission can use the estimator",
        kAt<&Estimating::mode>),
    Key("socket-group", "socket-group", "Group of the socket; default: that of the process", kAt<&Estimating::group>),
    Key("models", "models",
        "Models: files, directories, and http or https URLs, as model.sources of the agent, and archives of Kepler "
        "0.7. "
        "A named file is used for any machine. Default: NODE_TOTAL_INIT_URL and NODE_COMPONENTS_INIT_URL",
        kAt<&Estimating::models>),
    Key("server", "server",
        "URL of a server of kepler-model serve or of the model server of Kepler 0.7, whose choice for this machine is "
        "used; default: MODEL_SERVER_URL, if MODEL_SERVER_ENABLE is true",
        kAt<&Estimating::server>),
    Key("refresh", "refresh", "Interval at which models are fetched again", kAt<&Estimating::refresh>,
        {.min = kShortestRefresh, .max = kLongestRefresh}),
    Key("cache-dir", "cache-dir", "Directory for copies of fetched models, used at startup if a URL is unreachable",
        kAt<&Estimating::cache_dir>, {.is_path = true}),
    Key("public-key", "public-key", "PEM file with Ed25519 public keys. Models must be signed by one of these keys",
        kAt<&Estimating::public_key>, {.is_path = true}),
    Key("machine", "machine", "Machine, as JSON file or KEY=VALUE,...; default: this one", kAt<&Estimating::machine>,
        {.is_path = true}),
    Key("config-dir", "config-dir",
        "Directory with a file for each environment name of Kepler 0.7; a file wins over the environment",
        kAt<&Estimating::config_dir>, {.is_path = true}),
    Key("log-level", "log-level", "Log messages of this level and above", kAt<&Estimating::log_level>,
        {.choices = kLogLevels}),
    Key("log-format", "log-format", "Format of the log", kAt<&Estimating::log_format>, {.choices = kLogFormats}),
};
constexpr settings::TableOf<Estimating> kEstimatorTable(kEstimatorKeys);

/// Names of a URL of an archive. Upstream's estimator uses the first one for acpi, and the second one for rapl-sysfs.
constexpr std::string_view kInitialUrls[] = {"NODE_TOTAL_INIT_URL"sv, "NODE_COMPONENTS_INIT_URL"sv};
constexpr std::string_view kOnlyNode = "only models of nodes are used: NODE_TOTAL_INIT_URL, NODE_COMPONENTS_INIT_URL";

/// Names of upstream's estimator that have no meaning here.
constexpr std::pair<std::string_view, std::string_view> kUnusedNames[] = {
    {"MODEL_PATH", "use --models"},
    {"MODEL_TOPURL", "nothing is downloaded by default; use --server or --models"},
    {"MNT_PATH", "use --models and --cache-dir"},
    {"CONTAINER_TOTAL_INIT_URL", kOnlyNode},
    {"CONTAINER_COMPONENTS_INIT_URL", kOnlyNode},
    {"PROCESS_TOTAL_INIT_URL", kOnlyNode},
    {"PROCESS_COMPONENTS_INIT_URL", kOnlyNode},
};

/// The lines KEY=VALUE of MODEL_CONFIG, which upstream's estimator puts into its environment.
using Lines = std::map<std::string, std::string, std::less<>>;

Lines ReadLines(std::string_view text) {
  Lines read;
  Splitter lines(text, '\n');
  while (const auto line = lines.Next()) {
    const std::string_view rest = Trim(*line);
    const size_t equal = rest.find('=');
    if (rest.starts_with('#') || equal == std::string_view::npos) continue;
    read.insert_or_assign(std::string(Trim(rest.substr(0, equal))), Trim(rest.substr(equal + 1)));
  }
  return read;
}

bool IsUsed(std::string_view name) {
  return std::ranges::find(kInitialUrls, name) != std::end(kInitialUrls) || name.starts_with("MODEL_SERVER_");
}

/// Takes the initial archive of a name, unless a flag names models.
EnvironmentUse UseInitialUrl(Estimating& config, bool has_flag, std::string_view name, const std::string& url) {
  if (has_flag) return {std::string(name), "--models is set"};
  const auto place = model_store::ParsePlace(url);
  if (!place) return {std::string(name), "its value " + place.error().message};
  if (std::ranges::find(config.models, url) == config.models.end()) config.models.push_back(url);
  return {std::string(name), ""};
}

void NoteUnused(const Lines& lines, const std::function<std::string(std::string_view)>& value,
                std::vector<EnvironmentUse>& uses) {
  for (const auto& [name, reason] : kUnusedNames)
    if (!value(name).empty() && !lines.contains(name)) uses.push_back({std::string(name), std::string(reason)});
  for (const auto& [name, unused] : lines)
    if (!IsUsed(name))
      uses.push_back({"MODEL_CONFIG: " + EscapeControls(name),
                      "of MODEL_CONFIG, the estimator uses NODE_TOTAL_INIT_URL, NODE_COMPONENTS_INIT_URL and "
                      "MODEL_SERVER_..."});
}

}  // namespace

const settings::TableOf<Estimating>& EstimatorTable() { return kEstimatorTable; }

std::optional<mode_t> ModeOf(std::string_view text) {
  mode_t mode = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7' || mode > kMaxMode) return std::nullopt;
    mode = mode * 8 + static_cast<mode_t>(digit - '0');
  }
  return text.empty() || mode > kMaxMode ? std::nullopt : std::optional(mode);
}

std::vector<EnvironmentUse> ApplyEnvironment(Estimating& config,
                                             const std::function<std::string(std::string_view)>& value) {
  const Lines lines = ReadLines(value("MODEL_CONFIG"));
  const auto named = [&](std::string_view name) {
    const auto line = lines.find(name);
    return line == lines.end() ? value(name) : line->second;
  };
  std::vector<EnvironmentUse> uses;
  const bool has_flag = !config.models.empty();
  for (const std::string_view name : kInitialUrls)
    if (const std::string url = named(name); !url.empty()) uses.push_back(UseInitialUrl(config, has_flag, name, url));
  auto read = model_store::ReadServerEnvironment(named, config.server.empty() ? "" : "--server");
  for (model_store::NameUse& use : read.uses) uses.push_back({std::move(use.name), std::move(use.reason)});
  if (config.server.empty()) config.server = read.server;
  NoteUnused(lines, value, uses);
  return uses;
}

void CheckEstimating(settings::Draft& draft, const Estimating& config) {
  if (!ModeOf(config.mode)) draft.Reject("socket-mode", "must be octal, 0 to 777");
  if (config.models.empty() && config.server.empty())
    draft.Reject("models", "is missing; name a model, a directory with models, or a --server");
  for (const std::string& text : config.models)
    if (const auto place = model_store::ParsePlace(text); !place) draft.Reject("models", place.error().message);
  if (config.server.empty()) return;
  if (const Status endpoint = settings::CheckEndpoint(config.server); !endpoint)
    draft.Reject("server", endpoint.error().message);
}

}  // namespace kepler::lab::tool
