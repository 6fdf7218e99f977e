#include "apps/kepler/model_wiring.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/kepler/model_config.h"
#include "base/log.h"
#include "energy/modeled/node_rates.h"
#include "model_store/server_environment.h"
#include "settings/addresses.h"

namespace kepler::agent {
namespace {

/// Of the time between two fetches: agents that started together do not ask together for long.
constexpr double kFetchJitter = 0.1;

/// Where models are put that are for every agent of a machine.
constexpr char kSystemModels[] = "/usr/share/kepler/models";

std::vector<model_store::Place> FindPlaces(const Config& config) {
  const std::string model_config = model_store::ReadOldSetting(model_store::kOldSettings, "MODEL_CONFIG");
  if (!config.model_sources.empty()) {
    if (!model_config.empty()) log::Warn("MODEL_CONFIG is ignored because model.sources is set");
    std::vector<model_store::Place> places;
    for (const std::string& text : config.model_sources)
      if (auto place = model_store::ParsePlace(text))
        places.push_back(*std::move(place));  // invalid places were rejected by the rules
    return places;
  }
  ModelConfig found = ReadModelConfig(model_config);
  for (const std::string& warning : found.warnings) log::Warn("configuration", {{"problem", warning}});
  std::error_code failed;
  if (found.places.empty() && std::filesystem::is_directory(kSystemModels, failed))
    found.places.push_back({.shown = kSystemModels, .path = kSystemModels});
  return std::move(found.places);
}

/// URL of the model server: of model.server, else of the settings of Kepler 0.7; empty: none. Logs what becomes of
/// each name in the environment.
std::string ServerOf(const Config& config) {
  const auto value = [](std::string_view name) {
    return model_store::ReadOldSetting(model_store::kOldSettings, std::string(name));
  };
  const model_store::ServerEnvironment read =
      model_store::ReadServerEnvironment(value, config.model_server.empty() ? "" : "model.server");
  const Status endpoint = read.server.empty() ? Status() : settings::CheckEndpoint(read.server);
  for (const model_store::NameUse& use : read.uses) {
    const std::string& reason = use.reason.empty() && !endpoint ? endpoint.error().message : use.reason;
    if (reason.empty())
      log::Info("setting of Kepler 0.7 is used", {{"name", use.name}});
    else
      log::Warn("setting of Kepler 0.7 is ignored", {{"name", use.name}, {"reason", reason}});
  }
  if (!config.model_server.empty()) return config.model_server;
  return endpoint ? read.server : "";
}

/// Features that estimates on this machine will probably have. A model that needs another one is not used, whatever the
/// server chooses.
std::vector<std::string> LikelyFeatures(const Config& config) {
  using namespace energy::modeled;
  std::vector<std::string> features;
  for (size_t rate = 0; rate < kRates; ++rate) {
    const bool is_counter = rate == kCycles || rate == kInstructions || rate == kCacheMisses;
    if (!is_counter || config.counters != Counters::kOff) features.emplace_back(kRateNames[rate]);
  }
  return features;
}

}  // namespace

Result<std::unique_ptr<model_store::ModelStore>> MakeModelStore(const Config& config,
                                                                std::shared_ptr<const Clock> clock,
                                                                std::shared_ptr<model::ModelBoard> board,
                                                                const model::MachineSpec& machine) {
  if (config.require_meter && config.split.weights != pipeline::CpuWeights::kModel) {
    if (!config.model_sources.empty() || !config.model_server.empty())
      log::Info("model.sources is ignored because meter.require forbids estimates");
    return nullptr;
  }
  auto places = FindPlaces(config);
  if (const std::string url = ServerOf(config); !url.empty()) {
    KEPLER_TRY(auto server, model_store::PlaceOfServer(url, {.machine = machine, .features = LikelyFeatures(config)}));
    server.user = config.model_server_user;
    server.password_file = config.model_server_password_file;
    places.push_back(std::move(server));
  }
  if (places.empty()) return nullptr;
  model_store::PlacesOptions options{
      .places = std::move(places), .times = {}, .cache_directory = config.model_cache_dir};
  options.times.refresh = config.model_refresh;
  options.times.jitter = kFetchJitter;
  if (!config.model_public_key.empty()) {
    KEPLER_TRY(options.keys, model_store::PublicKeys::Read(config.model_public_key));
  }
  return std::make_unique<model_store::ModelStore>(
      std::make_shared<model_store::ModelPlaces>(std::move(options), std::move(clock), std::move(board)));
}

}  // namespace kepler::agent
