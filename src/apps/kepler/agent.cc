#include "apps/kepler/agent.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/kepler/model_wiring.h"
#include "apps/kepler/node_api.h"
#include "apps/kepler/push_wiring.h"
#include "apps/kepler/wiring.h"
#include "base/log.h"
#include "daemon/descriptor_budget.h"
#include "daemon/self_status.h"
#include "energy/platform/redfish/bmc_file.h"
#include "http/server/listen_address.h"
#include "settings/print.h"

namespace kepler::agent {
namespace {

/// After a start with BPF about 40 descriptors are open. ClientDescriptors() then needs 20 more for ticks and clients.
constexpr uint64_t kMinDescriptors = 64;

bool Wants(const Config& config, DebugCollector collector) {
  const auto& wanted = config.debug_collectors;
  return std::ranges::find(wanted, collector) != wanted.end();
}

/// Returns `result`. An error about a listen address gets the name of the setting, for settings::WithPlace().
template <class T>
Result<T> OfAddresses(Result<T> result) {
  if (!result && result.error().message.starts_with(http::server::kListenError))
    result.error().message.insert(0, "web.listenAddresses: ");
  return result;
}

}  // namespace

Agent::Agent(Config config, BuildInfo build, std::function<Configuration()> parse)
    : config_(std::move(config)), build_(std::move(build)), parse_(std::move(parse)) {}

Result<std::unique_ptr<Agent>> Agent::Start(Config config, BuildInfo build, std::function<Configuration()> parse) {
  std::unique_ptr<Agent> agent(new Agent(std::move(config), std::move(build), std::move(parse)));
  KEPLER_CHECK_OK(agent->Build());
  KEPLER_CHECK_OK(agent->StartAll());
  return agent;
}

/// In the order of Build() and StartAll(), so that of several errors it names the same.
Result<std::string> Agent::Check(const Config& config) {
  const SystemClock clock;
  std::string warning;
  if (!config.web_config_file.empty()) {
    KEPLER_TRY(warning, http::server::CheckWebConfig(config.web_config_file, config.listen_addresses));
  }
  KEPLER_CHECK_OK(OfAddresses(http::server::CheckAddresses(config.listen_addresses)));
  if (config.redfish_enabled) {
    energy::platform::redfish::FileStamps stamps;
    const auto bmc =
        energy::platform::redfish::ReadBmcFile(config.redfish_config_file, config.redfish_node_name, stamps);
    if (!bmc) return std::unexpected(bmc.error());
    if (!bmc->warning.empty()) warning += (warning.empty() ? "" : "; ") + bmc->warning;
  }
  const Shared shared = MakeShared(config.host, clock);
  KEPLER_TRY(const auto models, MakeModelStore(config, std::make_shared<SystemClock>(), shared.models, shared.machine));
  Config without_platform = config;  // no meter of the machine can be a mistake, and a BMC must see no login
  without_platform.platform_meters.clear();
  KEPLER_TRY(const auto meters, MakeMeters(without_platform, clock, shared));
  KEPLER_TRY(const auto otlp, MakeOtlp(config, {}, nullptr));
  KEPLER_TRY(const auto remote_write, MakeRemoteWrite(config, {}, nullptr));
  if (config.activity_source == ActivityChoice::kBpf) {  // others take what there is
    KEPLER_TRY(const auto activity, MakeActivity(config, clock, shared.proc_stat));
  }
  return warning;
}

Status Agent::Build() {
  daemon::RaiseDescriptorLimit();
  KEPLER_CHECK_OK(daemon::CheckDescriptorLimit(kMinDescriptors));
  http::server::ServerOptions options;
  options.listen_addresses = config_.listen_addresses;
  options.web_config_file = config_.web_config_file;
  // For the page and the JSON API, whose largest answers take 2 to 6 ms. However many clients ask, they keep at most
  // one CPU busy, and ticks have the others.
  options.limits.workers = 1;
  KEPLER_TRY(server_, OfAddresses(http::server::Server::Create(std::move(options))));
  pods_ = MakeInformer(config_, clock_);
  KEPLER_TRY(node_, ThisNode::Open(config_, clock_, pods_.get()));
  collector_ = std::make_unique<pipeline::Collector>(node_->tick(), node_->board(), clock_, config_.freshness);
  if (config_.prometheus_enabled) {
    api_ = MakeApi(config_, build_, clock_, *collector_, node_->board());
    collector_->OnSnapshot([this](const snapshot::Snapshot& snapshot) { api_->Observe(snapshot); });
  }
  cache_ = std::make_unique<prometheus::ScrapeCache>(
      MakeRenderOptions(config_, build_),
      Wants(config_, DebugCollector::kProcess) ? prometheus::ScrapeCache::SelfStatusProvider(daemon::ReadSelfStatus)
                                               : nullptr,
      [this] { return HttpStatus(); }, [this] { return PushStatus(); });
  const auto fresh = [this, freshness = config_.freshness] {
    return ReadingOf(collector_->Fresh(), freshness, clock_);
  };
  const auto read = [this, fresh] {
    series::Reading reading = fresh();
    reading.pushes = PushStatus();
    reading.log_lines_dropped = log::LinesDropped();
    return reading;
  };
  KEPLER_TRY(auto otlp, MakeOtlp(config_, build_, read));
  if (otlp) pushers_.push_back(std::move(otlp));
  const auto read_all = [this, read, with_self = Wants(config_, DebugCollector::kProcess)] {
    series::Reading reading = read();
    if (with_self) reading.self = daemon::ReadSelfStatus();
    reading.http = HttpStatus();
    return reading;
  };
  KEPLER_TRY(auto remote_write, MakeRemoteWrite(config_, build_, read_all));
  if (remote_write) pushers_.push_back(std::move(remote_write));
  json_lines_ = MakeJsonLines(config_, fresh);
  return {};
}

Status Agent::StartAll() {
  if (pods_) KEPLER_CHECK_OK(pods_->Start());
  KEPLER_CHECK_OK(collector_->Start());
  if (config_.prometheus_enabled) {
    const auto read = [this, freshness = config_.freshness] {
      return ReadingOf(collector_->Fresh(), freshness, clock_);
    };
    metrics_ = std::make_unique<web::MetricsEndpoint>(read, *cache_, clock_);
    KEPLER_CHECK_OK(metrics_->Start());
  }
  KEPLER_CHECK_OK(StartPushers());
  AddEndpoints();
  const uint64_t needed = node_->model_descriptors() + PushDescriptors(config_);
  KEPLER_TRY(const uint64_t sockets, daemon::ClientDescriptors(needed));
  server_->LimitSockets(sockets);
  KEPLER_CHECK_OK(server_->Start());
  for (const std::string& url : Urls()) log::Info("serving", {{"url", metrics_ ? url + "metrics" : url}});
  return config_.stdout_enabled ? StartPrinter() : Status();
}

Status Agent::StartPushers() {
  for (const auto& pusher : pushers_) KEPLER_CHECK_OK(pusher->Start());
  return json_lines_ ? json_lines_->Start() : Status();
}

std::vector<status::PushStatus> Agent::PushStatus() const {
  std::vector<status::PushStatus> all;
  all.reserve(pushers_.size() + 1);
  for (const auto& pusher : pushers_) all.push_back(pusher->status());
  if (json_lines_) all.push_back(json_lines_->status());
  return all;
}

Status Agent::StartPrinter() {
  const auto top = static_cast<size_t>(config_.stdout_top);
  const bool screen = top > 0 && isatty(STDOUT_FILENO) == 1;
  // As upstream: an agent whose only exporter has ended ends too.
  const auto on_end = [only = !metrics_] {
    log::Info(only ? "stdout was the only exporter; stopping"
                   : "stdout is closed, still serving metrics; stop the agent with Ctrl+C or SIGTERM");
    if (only) kill(getpid(), SIGTERM);
  };
  const auto fresh = [this, freshness = config_.freshness]() -> console::Printer::Latest {
    series::Reading reading = ReadingOf(collector_->Fresh(), freshness, clock_);
    return {.snapshot = std::move(reading.snapshot), .stale = reading.stale};
  };
  printer_ = std::make_unique<console::Printer>(fresh, console::ReportOptions{top, screen}, on_end);
  return printer_->Start();
}

/// They stop at the same time, before any is gone: each reads the status of all.
void Agent::EndExporters() {
  constexpr std::chrono::seconds kPatience{3};  // only a hung disk needs it: a tick takes up to a second
  for (const auto& pusher : pushers_) pusher->RequestStop();
  if (json_lines_) json_lines_->RequestStop();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (const auto& pusher : pushers_) pusher->Stop(deadline);
  if (json_lines_) json_lines_->Stop(deadline);
  pushers_.clear();
  json_lines_.reset();
}

Agent::~Agent() {
  printer_.reset();
  if (server_) server_->Stop();
  metrics_.reset();
  EndExporters();
  if (collector_) collector_->Stop();
}

void Agent::Reload() {
  const Configuration fresh = parse_();
  if (fresh.action != settings::Action::kRun) return Refuse(settings::OneLine(fresh));
  // Another file counts from the next start, which must not be what finds out that it is unusable.
  if (const std::string& web = fresh.config.web_config_file; web != config_.web_config_file) {
    const auto usable = http::server::CheckWebConfig(web, fresh.config.listen_addresses);
    if (!usable) return Refuse(usable.error().message);
  }
  const log::Level level = fresh.config.log_level;
  // Who makes the log quieter wants to know that it worked, who makes it louder what came of it.
  log::SetLevel(std::min(config_.log_level, level));
  {
    const std::scoped_lock lock(config_mutex_);
    config_.log_level = level;
    config_taken_ = true;
  }
  ReloadTheRest(fresh);
  log::SetLevel(level);
}

void Agent::Refuse(const std::string& why) {
  log::Error("failed to load the new configuration; the old one stays in use", {{"err", why}});
  const std::scoped_lock lock(config_mutex_);
  config_taken_ = false;
}

status::HttpStatus Agent::HttpStatus() {
  status::HttpStatus status = server_->status();
  const std::scoped_lock lock(config_mutex_);
  status.reload_successful = status.reload_successful && config_taken_;
  // While one of the two files is refused, neither moves it.
  if (status.reload_successful) reload_success_ = std::max(status.reload_success, config_taken_at_);
  status.reload_success = reload_success_;
  return status;
}

void Agent::ReloadTheRest(const Configuration& fresh) {
  for (const std::string& warning : fresh.warnings) log::Warn("configuration", {{"problem", warning}});
  if (const auto changed = settings::ChangedKeys(kTable.Of(config_), kTable.Of(fresh.config)); !changed.empty())
    log::Warn("some changed keys take effect at the next startup",
              {{"keys", fmt::format("{}", fmt::join(changed, ", "))}});
  if (const Status read = server_->ReloadWebConfig(); !read) {
    log::Error("failed to load the web configuration; the old one stays in use", {{"err", read.error().message}});
    return;
  }
  {
    const std::scoped_lock lock(config_mutex_);
    config_taken_at_ = clock_.Wall();
  }
  log::Info("reloaded", {{"log.level", settings::ShowValue(kTable.Of(fresh.config), "log.level")},
                         {"web.configFile", config_.web_config_file}});
}

std::vector<std::string> Agent::Urls() const {
  std::vector<std::string> urls;
  for (std::string address : server_->addresses()) {
    // What listens on every address is reached on this one.
    for (const std::string_view any : {"0.0.0.0:", "[::]:"})
      if (address.starts_with(any)) address = "localhost:" + address.substr(any.size());
    urls.push_back((server_->tls() ? "https://" : "http://") + address + "/");
  }
  return urls;
}

}  // namespace kepler::agent
