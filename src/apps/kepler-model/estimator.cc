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
#include "apps/kepler-model/estimator_settings.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "daemon/run.h"
#include "lab/files/archive.h"
#include "lab/files/model_archive.h"
#include "lab/files/model_file.h"
#include "model_store/model_places.h"
#include "model_store/model_store.h"
#include "modelserver/estimator/estimate_answer.h"
#include "modelserver/estimator/estimator_socket.h"
#include "os/read_machine_info.h"

namespace kepler::lab::tool {
namespace {

using std::string_view_literals::operator""sv;

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

/// An archive of export, or of Kepler's model server.
Result<model::PowerModel> ReadPacked(std::string_view bytes) {
  KEPLER_TRY(const auto members, files::ReadArchive(bytes));
  if (files::IsPackedModel(members)) {
    KEPLER_TRY(auto shared, files::UnpackModel(members));
    return std::move(shared.model);
  }
  KEPLER_TRY(auto server, files::ReadServerArchive(members));
  return std::move(server.model);
}

Result<model_store::PlacesOptions> PlacesOf(const Estimating& config, const model::MachineSpec& machine) {
  model_store::PlacesOptions options{.places = {}, .times = {}, .cache_directory = config.cache_dir};
  options.times.refresh = config.refresh;
  options.times.jitter = kFetchJitter;
  options.read_archive = ReadPacked;
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

}  // namespace

int RunEstimator(std::span<const char* const> arguments) {
  Estimating config;
  std::vector<EnvironmentUse> uses;
  int served = 0;
  const auto complete = [&](settings::Draft& draft) {
    uses = ApplyEnvironment(config, [&](std::string_view name) { return EnvironmentOf(config.config_dir, name); });
    CheckEstimating(draft, config);
    CheckMachineFlag(draft, config.machine);
  };
  const int ran =
      RunCommand("estimator", kAboutEstimator, arguments, EstimatorTable().Of(config), complete, [&]() -> Status {
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
