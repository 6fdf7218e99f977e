#pragma once
// Agent: everything of one running agent, in the order in which it starts and, reversed, stops.
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/metrics_endpoint.h"
#include "agent/stdout_printer.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "export/prometheus/scrape_cache.h"
#include "http/server/server.h"
#include "pipeline/collector.h"
#include "pipeline/node_tick.h"

namespace kepler::agent {

class Agent {
 public:
  /// Opens the meters, binds the addresses; nothing runs yet. The error is the one message of a start that fails.
  [[nodiscard]] static Result<std::unique_ptr<Agent>> Create(config::Config config, BuildInfo build);
  ~Agent();  // stops

  [[nodiscard]] Status Start();
  /// Orderly: no new connections, running answers finish, then the collection ends.
  void Stop();
  /// SIGHUP: the web configuration, and the log level of `fresh`. Says what else of it waits for the next start, and
  /// its `warnings`.
  void Reload(const config::Config& fresh, const std::vector<std::string>& warnings);
  /// SIGHUP, and the configuration is none.
  void RefuseReload(const std::string& why);
  /// Whether ticks come as they should. Once it is started.
  [[nodiscard]] bool IsLive() const { return collector_->IsLive(); }
  /// "http://127.0.0.1:28282/", one per listen address.
  [[nodiscard]] std::vector<std::string> Urls() const;

 private:
  Agent(config::Config config, BuildInfo build);
  [[nodiscard]] Status Build();
  void AddEndpoints();
  [[nodiscard]] snapshot::HttpStatus HttpStatus();
  /// The web configuration, and what there is to say about `fresh`, compared with what is in effect.
  void ReloadTheRest(const config::Config& fresh, const std::vector<std::string>& warnings);
  [[nodiscard]] http::Response Health(bool good, std::string_view what) const;

  std::mutex config_mutex_;
  config::Config config_;       // what is in effect; once it is served, Reload() changes it under config_mutex_
  bool config_taken_ = true;    // by the latest reload; under config_mutex_, as is what follows
  WallTime config_taken_at_{};  // by the last reload that worked, the web configuration's part too
  WallTime reload_success_{};   // as last told
  BuildInfo build_;
  SystemClock clock_;
  snapshot::Board board_;
  std::unique_ptr<energy::MeterSet> meters_;
  std::unique_ptr<activity::ActivitySource> activity_;
  std::unique_ptr<workload::Resolver> resolver_;
  std::unique_ptr<pipeline::NodeTick> tick_;
  std::unique_ptr<pipeline::Collector> collector_;
  std::unique_ptr<prometheus::ScrapeCache> cache_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<MetricsEndpoint> metrics_;
  std::unique_ptr<StdoutPrinter> printer_;
};

}  // namespace kepler::agent
