// kepler-model estimator.
#include <fmt/format.h>
#include <grp.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/serve_settings.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "daemon/run.h"
#include "lab/files/model_file.h"
#include "model_store/model_places.h"
#include "model_store/model_store.h"
#include "model_store/server_environment.h"
#include "modelserver/estimator/estimate_answer.h"
#include "modelserver/estimator/estimator_socket.h"
#include "os/read_machine_info.h"
#include "settings/addresses.h"

namespace kepler::lab::tool {
namespace {

using settings::kAt;
using settings::Key;
using std::string_view_literals::operator""sv;

struct Estimating {
  std::string socket = "/tmp/estimator.sock";
  std::string mode = "0660";
  std::string group;
  std::vector<std::string> models;
  std::string server;
  Duration refresh = std::chrono::hours(1);
  std::string cache_dir;
  std::string public_key;
  std::string machine;
  std::string config_dir = "/etc/kepler/kepler.config";
  log::Level log_level = log::Level::kInfo;
  log::Format log_format = log::Format::kText;
};

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

constexpr std::string_view kAboutEstimator =
    R"(Estimates power for agents of Kepler 0.7, on the Unix socket that its Python estimator had.

Examples:
  kepler-model estimator --models=/var/lib/kepler/model
  kepler-model estimator --server=http://kepler-model-server:8100 --socket-group=kepler)";

/// Features of agents of Kepler 0.7: what the server may choose a model by.
constexpr std::string_view kOldFeatures[] = {"bpf_block_irq"sv,  "bpf_cpu_time_ms"sv,    "bpf_net_rx_irq"sv,
                                             "bpf_net_tx_irq"sv, "bpf_page_cache_hit"sv, "cache_miss"sv,
                                             "cpu_cycles"sv,     "cpu_instructions"sv};

/// Of the time between two fetches, as in the agent.
constexpr double kFetchJitter = 0.1;

Result<model_store::PlacesOptions> PlacesOf(const Estimating& config, const model::MachineSpec& machine) {
  model_store::PlacesOptions options{.places = {}, .times = {}, .cache_directory = config.cache_dir};
  options.times.refresh = config.refresh;
  options.times.jitter = kFetchJitter;
  for (const std::string& text : config.models) {
    KEPLER_TRY(auto place, model_store::ParsePlace(text));
    options.places.push_back(std::move(place));
  }
  if (!config.server.empty()) {
    model_store::ModelQuery query{.machine = machine, .features = {}};
    query.features.assign(std::begin(kOldFeatures), std::end(kOldFeatures));
    KEPLER_TRY(auto place, model_store::PlaceOfServer(config.server, std::move(query)));
    options.places.push_back(std::move(place));
  }
  if (!config.public_key.empty()) {
    KEPLER_TRY(options.keys, model_store::PublicKeys::Read(config.public_key));
  }
  return options;
}

Result<model::MachineSpec> MachineOf(const Estimating& config) {
  if (!config.machine.empty()) return files::ReadMachine(config.machine);
  return model::SpecOf(os::ReadMachineInfo("/proc", "/sys"));
}

Result<std::optional<gid_t>> GroupOfSocket(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (const auto number = ParseNumber<gid_t>(name)) return *number;
  errno = 0;
  const group* const found = getgrnam(name.c_str());  // this is the only thread that looks for a group
  if (found == nullptr) return Fail(ErrorKind::kInvalid, fmt::format("--socket-group: there is no group {}", name));
  return found->gr_gid;
}

std::optional<mode_t> ModeOf(std::string_view text) {
  mode_t mode = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7' || mode > kMaxMode) return std::nullopt;
    mode = mode * 8 + static_cast<mode_t>(digit - '0');
  }
  return text.empty() || mode > kMaxMode ? std::nullopt : std::optional(mode);
}

class EstimatorService final : public daemon::Service {
 public:
  static Result<std::unique_ptr<daemon::Service>> Start(const Estimating& config) {
    std::unique_ptr<EstimatorService> service(new EstimatorService);
    KEPLER_TRY(service->machine_, MachineOf(config));
    KEPLER_TRY(auto places, PlacesOf(config, service->machine_));
    KEPLER_TRY(const auto group, GroupOfSocket(config.group));
    service->store_ = std::make_unique<model_store::ModelStore>(std::make_shared<model_store::ModelPlaces>(
        std::move(places), std::make_shared<SystemClock>(), service->board_));
    KEPLER_CHECK_OK(service->store_->Start(kPatience));
    const auto answer = [self = service.get()](std::string_view text) { return self->Answer(text); };
    KEPLER_TRY(service->socket_, modelserver::estimator::EstimatorSocket::Listen(
                                     {.path = config.socket, .mode = *ModeOf(config.mode), .group = group},
                                     service->clock_, answer, modelserver::estimator::Refusal));
    KEPLER_CHECK_OK(service->socket_->Start());
    log::Info("listening", {{"socket", config.socket}, {"mode", config.mode}});
    return service;
  }

  ~EstimatorService() override {
    if (socket_ == nullptr) return;
    const auto counts = socket_->counts();
    log::Info("answered requests", {{"requests", std::to_string(counts.requests)},
                                    {"refused", std::to_string(counts.refused)},
                                    {"cut", std::to_string(counts.cut)}});
  }

  void Reload() override { log::Info("files of models are read again within seconds; nothing else is reloaded"); }

 private:
  /// Time for files on another machine. A model that comes later is used then.
  static constexpr std::chrono::milliseconds kPatience{3000};

  EstimatorService() = default;

  [[nodiscard]] std::string Answer(std::string_view text) const {
    const auto request = modelserver::estimator::ReadEstimateRequest(text);
    if (!request) return modelserver::estimator::Refusal(request.error());
    return modelserver::estimator::Answer(*request, *board_->Latest(), machine_);
  }

  const SystemClock clock_;
  model::MachineSpec machine_;
  const std::shared_ptr<model::ModelBoard> board_ = std::make_shared<model::ModelBoard>();
  std::unique_ptr<model_store::ModelStore> store_;
  std::unique_ptr<modelserver::estimator::EstimatorSocket> socket_;  // ends first
};

/// Names of upstream's estimator that have no meaning here.
constexpr std::pair<std::string_view, std::string_view> kUnusedNames[] = {
    {"MODEL_CONFIG", "use --models"},
    {"MODEL_PATH", "use --models"},
    {"MODEL_TOPURL", "nothing is downloaded by default; use --server or --models"},
    {"MNT_PATH", "use --models and --cache-dir"},
    {"NODE_TOTAL_INIT_URL", "convert the archive with kepler-model import, and use --models"},
    {"NODE_COMPONENTS_INIT_URL", "convert the archive with kepler-model import, and use --models"},
};

std::vector<EnvironmentUse> UseEnvironment(Estimating& config) {
  const auto value = [&](std::string_view name) { return EnvironmentOf(config.config_dir, name); };
  std::vector<EnvironmentUse> uses;
  auto read = model_store::ReadServerEnvironment(value, config.server.empty() ? "" : "--server");
  for (model_store::NameUse& use : read.uses) uses.push_back({std::move(use.name), std::move(use.reason)});
  if (config.server.empty()) config.server = read.server;
  for (const auto& [name, reason] : kUnusedNames)
    if (!value(name).empty()) uses.push_back({std::string(name), std::string(reason)});
  return uses;
}

void CheckPlaces(settings::Draft& draft, const Estimating& config) {
  if (config.models.empty() && config.server.empty())
    draft.Reject("models", "is missing; name a model, a directory with models, or a --server");
  for (const std::string& text : config.models)
    if (const auto place = model_store::ParsePlace(text); !place) draft.Reject("models", place.error().message);
  if (config.server.empty()) return;
  if (const Status endpoint = settings::CheckEndpoint(config.server); !endpoint)
    draft.Reject("server", endpoint.error().message);
}

}  // namespace

int RunEstimator(std::span<const char* const> arguments) {
  Estimating config;
  std::vector<EnvironmentUse> uses;
  int served = 0;
  const auto complete = [&](settings::Draft& draft) {
    uses = UseEnvironment(config);
    CheckPlaces(draft, config);
    if (!ModeOf(config.mode)) draft.Reject("socket-mode", "must be octal, 0 to 777");
  };
  const int ran =
      RunCommand("estimator", kAboutEstimator, arguments, kEstimatorTable.Of(config), complete, [&]() -> Status {
        daemon::PrepareProcess();
        log::Configure(config.log_level, config.log_format, log::Stream::kStdout);
        LogEnvironment(uses);
        served = daemon::Run("kepler-model estimator", daemon::ThisBuild().version,
                             [&] { return EstimatorService::Start(config); });
        return {};
      });
  return ran != 0 ? ran : served;
}

}  // namespace kepler::lab::tool
