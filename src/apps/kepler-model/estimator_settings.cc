#include "apps/kepler-model/estimator_settings.h"

#include <utility>

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
    Key("socket-mode", "socket-mode", "Mode of the socket, octal. Who may write to it can use the estimator",
        kAt<&Estimating::mode>),
    Key("socket-group", "socket-group", "Group of the socket; default: that of the process", kAt<&Estimating::group>),
    Key("models", "models",
        "Models: files, directories, and http or https URLs, as model.sources of the agent. A named file is used for "
        "any machine",
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

/// Names of upstream's estimator that have no meaning here.
constexpr std::pair<std::string_view, std::string_view> kUnusedNames[] = {
    {"MODEL_CONFIG", "use --models"},
    {"MODEL_PATH", "use --models"},
    {"MODEL_TOPURL", "nothing is downloaded by default; use --server or --models"},
    {"MNT_PATH", "use --models and --cache-dir"},
    {"NODE_TOTAL_INIT_URL", "convert the archive with kepler-model import, and use --models"},
    {"NODE_COMPONENTS_INIT_URL", "convert the archive with kepler-model import, and use --models"},
};

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
  std::vector<EnvironmentUse> uses;
  auto read = model_store::ReadServerEnvironment(value, config.server.empty() ? "" : "--server");
  for (model_store::NameUse& use : read.uses) uses.push_back({std::move(use.name), std::move(use.reason)});
  if (config.server.empty()) config.server = read.server;
  for (const auto& [name, reason] : kUnusedNames)
    if (!value(name).empty()) uses.push_back({std::string(name), std::string(reason)});
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
