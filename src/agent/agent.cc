#include "agent/agent.h"

#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/descriptor_budget.h"
#include "agent/self_status.h"
#include "agent/wiring.h"
#include "base/log.h"
#include "config/print.h"
#include "config/schema.h"
#include "export/web/landing_page.h"

namespace kepler::agent {
namespace {

http::Response Text(std::string text, std::string content_type = "text/plain; charset=utf-8") {
  http::Response response;
  response.content_type = std::move(content_type);
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

bool Wants(const config::Config& config, std::string_view collector) {
  return std::ranges::find(config.exporter.prometheus.debug_collectors, collector) !=
         config.exporter.prometheus.debug_collectors.end();
}

}  // namespace

Agent::Agent(config::Config config, BuildInfo build) : config_(std::move(config)), build_(std::move(build)) {}

Agent::~Agent() { Stop(); }

Result<std::unique_ptr<Agent>> Agent::Create(config::Config config, BuildInfo build) {
  std::unique_ptr<Agent> agent(new Agent(std::move(config), std::move(build)));
  KEPLER_CHECK_OK(agent->Build());
  return agent;
}

Status Agent::Build() {
  for (const std::string& missing : config::MissingFeatures(config_))
    log::Warn("not in this version", {{"feature", missing}});
  RaiseDescriptorLimit();
  http::ServerOptions options;
  options.listen_addresses = config_.web.listen_addresses;
  options.web_config_file = config_.web.config_file;
  KEPLER_TRY(server_, http::Server::Create(std::move(options)));
  KEPLER_TRY(meters_, MakeMeters(config_, clock_));
  KEPLER_TRY(activity_, MakeActivity(config_, clock_));
  resolver_ = std::make_unique<workload::Resolver>(config_.host.procfs, clock_);
  tick_ = std::make_unique<pipeline::NodeTick>(
      pipeline::NodeParts{*activity_, *meters_, *resolver_, board_, clock_, config_.host.procfs},
      MakeRetention(config_), MakeSplit(config_));
  collector_ = std::make_unique<pipeline::Collector>(*tick_, board_, clock_, MakeFreshness(config_));
  cache_ = std::make_unique<prometheus::ScrapeCache>(
      MakeRenderOptions(config_, build_),
      Wants(config_, "process") ? prometheus::ScrapeCache::SelfStatusProvider(ReadSelfStatus) : nullptr,
      [this] { return HttpStatus(); });
  return {};
}

Status Agent::Start() {
  KEPLER_CHECK_OK(collector_->Start());
  if (config_.exporter.prometheus.enabled) {
    metrics_ = std::make_unique<MetricsEndpoint>(*collector_, *cache_, clock_, MakeFreshness(config_));
    KEPLER_CHECK_OK(metrics_->Start());
  }
  AddEndpoints();
  KEPLER_TRY(const uint64_t open, CountOpenDescriptors());
  KEPLER_TRY(const uint64_t sockets, ClientDescriptors(DescriptorLimit(), open));
  server_->LimitSockets(sockets);
  KEPLER_CHECK_OK(server_->Start());
  for (const std::string& url : Urls()) log::Info("serving", {{"url", metrics_ ? url + "metrics" : url}});
  const config::StdoutExporter& table = config_.exporter.stdout_exporter;
  if (table.enabled) {
    const bool screen = table.top > 0 && isatty(STDOUT_FILENO) == 1;
    // As upstream: an agent whose only exporter has ended ends too.
    const auto on_end = [only = !metrics_] {
      log::Info(only ? "stdout was the only exporter: the agent stops"
                     : "the metrics are still served; Ctrl+C or SIGTERM ends the agent");
      if (only) kill(getpid(), SIGTERM);
    };
    printer_ = std::make_unique<StdoutPrinter>(*collector_,
                                               console::ReportOptions{static_cast<size_t>(table.top), screen}, on_end);
    KEPLER_CHECK_OK(printer_->Start());
  }
  return {};
}

void Agent::Stop() {
  printer_.reset();
  if (server_) server_->Stop();
  metrics_.reset();
  if (collector_) collector_->Stop();
}

void Agent::Reload(const config::Config& fresh, const std::vector<std::string>& warnings) {
  // Who makes the log quieter wants to know that it worked, who makes it louder what came of it.
  log::SetLevel(std::min(LogLevel(config_), LogLevel(fresh)));
  {
    const std::scoped_lock lock(config_mutex_);
    config_.log.level = fresh.log.level;
    config_taken_ = true;
  }
  ReloadTheRest(fresh, warnings);
  log::SetLevel(LogLevel(fresh));
}

void Agent::RefuseReload(const std::string& why) {
  log::Error("the new configuration is not used", {{"err", why}});
  const std::scoped_lock lock(config_mutex_);
  config_taken_ = false;
}

snapshot::HttpStatus Agent::HttpStatus() {
  snapshot::HttpStatus status = server_->status();
  const std::scoped_lock lock(config_mutex_);
  status.reload_successful = status.reload_successful && config_taken_;
  // While one of the two files is refused, neither moves it.
  if (status.reload_successful) reload_success_ = std::max(status.reload_success, config_taken_at_);
  status.reload_success = reload_success_;
  return status;
}

void Agent::ReloadTheRest(const config::Config& fresh, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) log::Warn("configuration", {{"problem", warning}});
  if (const auto changed = config::ChangedKeys(config_, fresh); !changed.empty())
    log::Warn("changed in the configuration, takes effect at the next start",
              {{"keys", fmt::format("{}", fmt::join(changed, ", "))}});
  if (const Status read = server_->ReloadWebConfig(); !read) {
    log::Error("the web configuration is not changed", {{"err", read.error().message}});
    return;
  }
  {
    const std::scoped_lock lock(config_mutex_);
    config_taken_at_ = clock_.Wall();
  }
  log::Info("reloaded", {{"log.level", fresh.log.level}, {"web.configFile", config_.web.config_file}});
}

http::Response Agent::Health(bool good, std::string_view what) const {
  http::Response response = Text(std::string(good ? "ok" : what) + "\n");
  response.status = good ? 200 : 503;
  return response;
}

void Agent::AddEndpoints() {
  std::vector<web::Link> links;
  if (metrics_) {
    links.push_back({"/metrics", "Metrics", "Prometheus metrics"});
    server_->Handle("/metrics", [this](const http::Request& request, http::Responder answer) {
      metrics_->Handle(request, std::move(answer));
    });
  }
  const auto live = [this](const http::Request&, const http::Responder& answer) {
    answer(Health(collector_->IsLive(), "the last tick is too long ago"));
  };
  const auto ready = [this](const http::Request&, const http::Responder& answer) {
    answer(Health(board_.Latest() != nullptr, "no complete snapshot yet"));
  };
  for (const char* path : {"/-/healthy", "/probe/livez", "/healthz"}) server_->Handle(path, live);
  for (const char* path : {"/-/ready", "/probe/readyz"}) server_->Handle(path, ready);
  server_->Handle("/debug/config", [this](const http::Request&, const http::Responder& answer) {
    const std::scoped_lock lock(config_mutex_);
    answer(Text(config::PrintConfig(config_, true)));
  });
  links.push_back({"/-/healthy", "Liveness", "200 while ticks come as they should; also /probe/livez, /healthz"});
  links.push_back({"/-/ready", "Readiness", "200 once there is a complete snapshot; also /probe/readyz"});
  links.push_back({"/debug/config", "Configuration", "The configuration in effect, without secrets"});
  server_->Handle(
      "/", [page = web::LandingPage(build_.version, links)](const http::Request&, const http::Responder& answer) {
        answer(Text(page, "text/html; charset=utf-8"));
      });
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
