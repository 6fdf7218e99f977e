// The pages that the agent serves itself.
#include <iterator>
#include <utility>

#include "apps/kepler/agent.h"
#include "apps/kepler/meter_survey.h"
#include "base/log.h"
#include "export/web/live_section.h"
#include "export/web/page_assets.h"
#include "settings/print.h"

namespace kepler::agent {
namespace {

http::server::Response Text(std::string text, std::string content_type = "text/plain; charset=utf-8") {
  http::server::Response response;
  response.content_type = std::move(content_type);
  response.body = std::make_shared<const std::string>(std::move(text));
  return response;
}

}  // namespace

http::server::Response Agent::Health(bool good, std::string_view what) const {
  http::server::Response response = Text(std::string(good ? "ok" : what) + "\n");
  response.status = good ? 200 : 503;
  return response;
}

void Agent::AddEndpoints() {
  std::vector<web::Link> links;
  if (metrics_) {
    links.push_back({"/metrics", "Metrics", "Prometheus metrics"});
    server_->Handle("/metrics", [this](const http::server::Request& request, http::server::Responder answer) {
      metrics_->Handle(request, std::move(answer));
    });
    api_->AddRoutes(*server_);
    links.push_back({"/api/v1/snapshot", "Figures as JSON", "Zones, meters and workloads of the latest tick"});
  }
  const auto live = [this](const http::server::Request&, const http::server::Responder& answer) {
    answer(Health(collector_->IsLive(), "the last tick is too old"));
  };
  const auto ready = [this](const http::server::Request&, const http::server::Responder& answer) {
    answer(Health(node_->board().Latest() != nullptr, "no complete snapshot yet"));
  };
  for (const char* path : {"/-/healthy", "/probe/livez", "/healthz"}) server_->Handle(path, live);
  for (const char* path : {"/-/ready", "/probe/readyz"}) server_->Handle(path, ready);
  // It waits for a reload of the configuration; probes and scrapes must not wait for it.
  server_->Handle({.path = "/debug/config", .runs_on = http::server::RunsOn::kWorkers},
                  [this](const http::server::Request& request, const http::server::Responder& answer) {
                    log::Debug("sending the configuration", {{"client", request.peer.address}, {"user", request.user}});
                    const std::scoped_lock lock(config_mutex_);
                    answer(Text(settings::Print(kTable.Of(config_), true)));
                  });
  links.push_back({"/-/healthy", "Liveness", "200 while ticks are on time; also /probe/livez, /healthz"});
  links.push_back({"/-/ready", "Readiness", "200 after the first complete snapshot; also /probe/readyz"});
  links.push_back({"/debug/config", "Configuration", "The effective configuration, without secrets"});
  const auto file = [this](std::string_view path, std::string_view text, std::string_view type) {
    const auto shared = std::make_shared<const std::string>(text);
    server_->Handle(std::string(path),
                    [shared, type](const http::server::Request&, const http::server::Responder& answer) {
                      answer({.content_type = std::string(type), .body = shared, .headers = web::PageHeaders()});
                    });
  };
  file(web::kScriptPath, web::PageScript(), "text/javascript; charset=utf-8");
  file(web::kStylePath, web::PageStyle(), "text/css; charset=utf-8");
  file(web::kIconPath, web::PageIcon(), "image/svg+xml");
  // It looks for meters that the agent does not read.
  server_->Handle({.path = "/", .runs_on = http::server::RunsOn::kWorkers},
                  [this, links](const http::server::Request& request, const http::server::Responder& answer) {
                    auto page = Text(
                        web::LandingPage({config_.node_name, build_.version}, links, Meters(), Live(request.query)),
                        "text/html; charset=utf-8");
                    page.headers = web::PageHeaders();
                    answer(std::move(page));
                  });
}

std::string Agent::Live(std::string_view query) const {
  if (!api_) return "";
  const auto reading = api_->readers().fresh();
  if (!reading.snapshot) return "";
  web::LiveView view{.snapshot = *reading.snapshot,
                     .stale = reading.stale,
                     .age_seconds = ToSeconds(clock_.Now() - reading.snapshot->taken_boot),
                     .gates = api_->gates(),
                     .points = api_->history().Read(api::PowerHistory::kSpan)};
  auto parsed = api::ParseQuery(query, view.gates);
  if (!parsed) view.problem = parsed.error().message;
  view.query = parsed ? *std::move(parsed) : api::ParseQuery("", view.gates).value_or(api::Query{});
  view.query.limit = web::kPageRows;
  return web::LiveSection(view);
}

std::optional<web::PageTable> Agent::Meters() const {
  constexpr size_t kMaxZones = 50;  // of each meter
  const auto snapshot = node_->board().Latest();
  if (snapshot == nullptr) return std::nullopt;
  const Config config = [this] {
    const std::scoped_lock lock(config_mutex_);
    return config_;
  }();
  MeterRows shown = ToRows(ReportMeters(config, *snapshot, clock_), kMaxZones);
  web::PageTable table{.title = "Meters",
                       .headers = {kMeterHeaders.begin(), kMeterHeaders.end()},
                       .rows = {},
                       .remarks = std::move(shown.reasons)};
  for (MeterRow& row : shown.rows)
    table.rows.emplace_back(std::make_move_iterator(row.begin()), std::make_move_iterator(row.end()));
  return table;
}

}  // namespace kepler::agent
