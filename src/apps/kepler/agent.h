#pragma once
// Agent: everything of one running agent, in the order in which it starts and, reversed, stops.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kepler/config.h"
#include "apps/kepler/this_node.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/result.h"
#include "daemon/run.h"
#include "export/api/endpoint.h"
#include "export/json_lines/file_exporter.h"
#include "export/prometheus/scrape_cache.h"
#include "export/push/pusher.h"
#include "export/stdout/printer.h"
#include "export/web/landing_page.h"
#include "export/web/metrics_endpoint.h"
#include "http/server/server.h"
#include "pipeline/collector.h"
#include "settings/command_line.h"
#include "workload/kubernetes/informer.h"

namespace kepler::agent {

class Agent final : public daemon::Service {
 public:
  using Configuration = settings::Parsed<Config>;
  /// Opens the meters, binds the addresses, starts. The error is the one message of a start that fails. `parse` reads
  /// the configuration again.
  [[nodiscard]] static Result<std::unique_ptr<Agent>> Start(Config config, BuildInfo build,
                                                            std::function<Configuration()> parse);
  /// What Start() refuses of `config`, by its message; else what there is to warn of, which may be nothing. Opens
  /// meters, and binds each address for a moment: a port that is in use is no mistake, for an agent may be running with
  /// this configuration. Asks no server and starts no thread.
  [[nodiscard]] static Result<std::string> Check(const Config& config);
  /// Orderly: no new connections, running answers finish, then the collection ends.
  ~Agent() override;

  /// The web configuration, and the log level. Says what else has changed and waits for the next start.
  void Reload() override;
  /// Whether ticks come as they should.
  [[nodiscard]] bool IsLive() const override { return collector_->IsLive(); }
  /// "http://127.0.0.1:28282/", one per listen address.
  [[nodiscard]] std::vector<std::string> Urls() const;

 private:
  Agent(Config config, BuildInfo build, std::function<Configuration()> parse);
  [[nodiscard]] Status Build();
  [[nodiscard]] Status StartAll();
  [[nodiscard]] Status StartPrinter();
  void EndExporters();
  [[nodiscard]] Status StartPushers();
  void AddEndpoints();
  /// The live section of the page at "/" for a query; "" without the API, and before the first snapshot. On a worker.
  [[nodiscard]] std::string Live(std::string_view query) const;
  /// The meters, for the page at "/"; nothing before the first snapshot. Any thread.
  [[nodiscard]] std::optional<web::PageTable> Meters() const;
  [[nodiscard]] status::HttpStatus HttpStatus();
  [[nodiscard]] std::vector<status::PushStatus> PushStatus() const;
  void Refuse(const std::string& why);
  /// The web configuration, and what there is to say about `fresh`, compared with what is in effect.
  void ReloadTheRest(const Configuration& fresh);
  [[nodiscard]] http::server::Response Health(bool good, std::string_view what) const;

  mutable std::mutex config_mutex_;
  Config config_;               // what is in effect; once it is served, Reload() changes it under config_mutex_
  bool config_taken_ = true;    // by the latest reload; under config_mutex_, as is what follows
  WallTime config_taken_at_{};  // by the last reload that worked, the web configuration's part too
  WallTime reload_success_{};   // as last reported
  BuildInfo build_;
  const std::function<Configuration()> parse_;
  SystemClock clock_;
  std::unique_ptr<workload::kubernetes::Informer> pods_;  // null: they are not named
  std::unique_ptr<ThisNode> node_;
  std::unique_ptr<pipeline::Collector> collector_;
  std::unique_ptr<prometheus::ScrapeCache> cache_;
  std::vector<std::unique_ptr<push::Pusher>> pushers_;
  std::unique_ptr<json_lines::FileExporter> json_lines_;  // null: off
  std::unique_ptr<http::server::Server> server_;
  std::unique_ptr<web::MetricsEndpoint> metrics_;
  std::unique_ptr<api::Endpoint> api_;  // null without metrics_
  std::unique_ptr<console::Printer> printer_;
};

}  // namespace kepler::agent
