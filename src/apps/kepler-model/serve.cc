// kepler-model serve.
#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/kepler-model/commands.h"
#include "apps/kepler-model/retrain_schedule.h"
#include "apps/kepler-model/serve_settings.h"
#include "apps/kepler-model/sign_key.h"
#include "apps/kepler-model/train.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/descriptor_budget.h"
#include "daemon/run.h"
#include "http/server/server.h"
#include "lab/files/model_file.h"
#include "modelserver/jobs/job_queue.h"
#include "modelserver/jobs/job_routes.h"
#include "modelserver/model_server.h"
#include "settings/addresses.h"

namespace kepler::lab::tool {
namespace {

constexpr std::string_view kAboutServe =
    R"(Serves models to agents and to clients of the model server of Kepler 0.7.

Examples:
  kepler-model serve --store=/var/lib/kepler-models
  curl http://localhost:8100/models
  curl -H 'Content-Type: application/json' http://localhost:8100/model \
      -d '{"metrics":["bpf_cpu_time_ms","bpf_page_cache_hit"],"output_type":"AbsPower","weight":true}')";

/// Files that a scan and the answers have open at once, in addition to those of clients.
constexpr uint64_t kFilesOfStore = 16;
constexpr std::chrono::minutes kJobMargin{1};

Result<std::vector<modelserver::Bound>> LimitsOf(const Serving& config) {
  return modelserver::ReadFilter(fmt::format("{}", fmt::join(config.max_error, ";")));
}

/// Reads the files of --retrain at startup. Otherwise each scheduled training would fail because of them.
Status CheckRetrainFiles(const Serving& config) {
  if (config.retrain.empty()) return {};
  if (!config.retrain_machine.empty()) {
    KEPLER_TRY(const auto machine, files::ReadMachine(config.retrain_machine));
  }
  if (!config.retrain_sign_key.empty()) {
    KEPLER_TRY(const auto key, ReadSignKey(config.retrain_sign_key));
  }
  return {};
}

class ModelService final : public daemon::Service {
 public:
  static Result<std::unique_ptr<daemon::Service>> Start(const Serving& config) {
    KEPLER_CHECK_OK(CheckRetrainFiles(config));
    std::unique_ptr<ModelService> service(new ModelService(config));
    KEPLER_CHECK_OK(service->models_.Load());
    http::server::ServerOptions options{.listen_addresses = config.listen, .web_config_file = config.web_config_file};
    if (!config.jobs.empty()) {
      KEPLER_CHECK_OK(service->StartJobs(config));
      options.limits.body_bytes += modelserver::jobs::kMaxTrainBytes;
      // A synchronous client waits for those that wait before it, too.
      options.limits.handler_time = std::chrono::ceil<std::chrono::milliseconds>(config.job_time) + kJobMargin;
    }
    KEPLER_TRY(service->server_, http::server::Server::Create(std::move(options)));
    service->models_.AddRoutes(*service->server_);
    if (service->jobs_ != nullptr)
      modelserver::jobs::AddJobRoutes(*service->server_, *service->jobs_,
                                      config.readers == modelserver::Readers::kOpen);
    KEPLER_TRY(const uint64_t sockets, daemon::ClientDescriptors(kFilesOfStore));
    service->server_->LimitSockets(sockets);
    KEPLER_CHECK_OK(service->server_->Start());
    if (!config.retrain.empty()) {
      service->schedule_ =
          std::make_unique<RetrainSchedule>(config, *service->jobs_, [models = &service->models_] { models->Wake(); });
      KEPLER_CHECK_OK(service->schedule_->Start());
    }
    KEPLER_CHECK_OK(service->models_.Watch(std::chrono::ceil<std::chrono::milliseconds>(config.scan_interval)));
    for (const std::string& address : service->server_->addresses())
      log::Info("listening", {{"address", address}, {"tls", service->server_->tls() ? "true" : "false"}});
    return service;
  }

  ~ModelService() override {
    schedule_.reset();
    server_.reset();  // its handlers use the jobs and the models
    jobs_.reset();    // its callbacks use the models
  }

  void Reload() override {
    models_.Wake();
    if (const Status read = server_->ReloadWebConfig(); !read)
      log::Error("failed to load the web configuration; the old one stays in use", {{"err", read.error().message}});
  }

 private:
  explicit ModelService(const Serving& config)
      : models_({.store = config.store,
                 .rules = {.policy = config.selection,
                           .error_key = config.error_key,
                           .limits = LimitsOf(config).value_or(std::vector<modelserver::Bound>())},
                 .readers = config.readers,
                 .version = daemon::ThisBuild().version}) {}

  Status StartJobs(const Serving& config) {
    modelserver::jobs::JobOptions options{
        .directory = config.jobs, .program = "/proc/self/exe", .fault_exit_code = kMachineFault};
    options.child.time = std::chrono::ceil<std::chrono::milliseconds>(config.job_time);
    options.child.memory_bytes = static_cast<size_t>(config.job_memory) << 20;
    jobs_ = std::make_unique<modelserver::jobs::JobQueue>(std::move(options), clock_);
    models_.AddMetrics([jobs = jobs_.get()] { return modelserver::jobs::WriteJobMetrics(*jobs); });
    return jobs_->Start();
  }

  const SystemClock clock_;
  modelserver::ModelServer models_;
  std::unique_ptr<modelserver::jobs::JobQueue> jobs_;
  std::unique_ptr<RetrainSchedule> schedule_;
  std::unique_ptr<http::server::Server> server_;  // ends first: its handlers use the models
};

void CheckRetrain(settings::Draft& draft, const Serving& config) {
  if (!modelserver::IsModelName(config.retrain)) draft.Reject("retrain", modelserver::NoModelName(config.retrain));
  if (config.jobs.empty()) draft.Reject("retrain", "requires --jobs");
  if (config.retrain_server.empty()) draft.Reject("retrain-server", "is missing");
  if (const std::string why = WhyNoTrainer(config.retrain_trainer); !why.empty()) draft.Reject("retrain-trainer", why);
  if (config.retrain_features.empty()) draft.Reject("retrain-features", "is missing");
  for (const auto& [key, path] :
       {std::pair("store", &config.store), std::pair("retrain-machine", &config.retrain_machine),
        std::pair("retrain-sign-key", &config.retrain_sign_key)})
    if (!path->empty() && !path->starts_with('/'))
      draft.Reject(key, "must be an absolute path with --retrain, whose jobs work in other directories");
}

}  // namespace

int RunServe(std::span<const char* const> arguments) {
  Serving config;
  std::vector<EnvironmentUse> uses;
  int served = 0;
  const auto complete = [&](settings::Draft& draft) {
    uses = ApplyEnvironment(config, [&](std::string_view name) { return EnvironmentOf(config.config_dir, name); });
    if (config.store.empty()) draft.Reject("store", "is missing; name the directory with the models");
    if (!LimitsOf(config)) draft.Reject("max-error", "each limit must be NAME:NUMBER, such as package_mape:20");
    if (!config.retrain.empty()) CheckRetrain(draft, config);
    settings::CheckListenAddresses(draft, "listen-address", config.listen);
  };
  const int ran = RunCommand("serve", kAboutServe, arguments, ServeTable().Of(config), complete, [&]() -> Status {
    daemon::PrepareProcess();
    daemon::RaiseDescriptorLimit();
    log::Configure(config.log_level, config.log_format, log::Stream::kStdout);
    LogEnvironment(uses);
    served =
        daemon::Run("kepler-model serve", daemon::ThisBuild().version, [&] { return ModelService::Start(config); });
    return {};
  });
  return ran != 0 ? ran : served;
}

}  // namespace kepler::lab::tool
