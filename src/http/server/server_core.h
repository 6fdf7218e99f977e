#pragma once
// ServerCore: the state that all connections of a server share. On the I/O thread, except status().
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/log.h"
#include "base/worker_pool.h"
#include "http/server/body_budget.h"
#include "http/server/client_shares.h"
#include "http/server/event_loop.h"
#include "http/server/memory_return.h"
#include "http/server/password_checker.h"
#include "http/server/rate_limit.h"
#include "http/server/routes.h"
#include "http/server/server.h"
#include "http/webconfig/web_config.h"
#include "http/webconfig/web_settings.h"
#include "status/http_status.h"

namespace kepler::http::server {

class Connection;

struct ServerCore {
  /// `matches` hashes passwords. Tests pass another function.
  ServerCore(std::shared_ptr<EventLoop> the_loop, const Limits& the_limits,
             std::unique_ptr<webconfig::WebSettings> the_web, HashWorker::Matches matches = webconfig::BcryptMatches)
      : loop(std::move(the_loop)),
        limits(the_limits),
        max_connections(the_limits.connections),
        web(std::move(the_web)),
        bodies(the_limits.body_bytes),
        workers({.name = "handlers",
                 .threads = std::max(the_limits.workers, 1U),
                 .max_queued = the_limits.queued_requests}),
        passwords(*loop, std::move(matches)) {}

  void Count(uint64_t status::HttpStatus::* what) {
    const std::scoped_lock lock(status_mutex);
    ++(counted.*what);
  }
  void Count(uint64_t status::DeniedRequests::* what) {
    const std::scoped_lock lock(status_mutex);
    ++(counted.requests_denied.*what);
  }
  /// From any thread.
  [[nodiscard]] status::HttpStatus status() const {
    status::HttpStatus status;
    {
      const std::scoped_lock lock(status_mutex);
      status = counted;
    }
    const webconfig::WebReload reload = web->reload();
    status.reload_successful = reload.successful;
    status.reload_success = reload.last_success;
    status.certificate_expiry = web->current()->certificate_expiry;
    return status;
  }
  /// After `connections` or `refusing` has changed.
  void CountConnections() {
    {
      const std::scoped_lock lock(status_mutex);
      counted.connections_open = connections.size() - refusing;
    }
    memory.OnConnections(connections.size());
  }

  void ForEach(void (Connection::*act)()) const {
    const auto copy = connections;  // closing changes the table
    for (const auto& [key, connection] : copy) ((*connection).*act)();
  }

  /// Reserves memory for a body, as BodyBudget::Reserve(), in the budget of its route and in the total.
  [[nodiscard]] std::shared_ptr<const void> ReserveBody(const Routes::Endpoint& endpoint, uint64_t bytes) const {
    using Room = std::shared_ptr<const void>;
    Room of_route = endpoint.bodies.Reserve(bytes);
    Room of_all = bodies.Reserve(bytes);
    if (!of_route || !of_all) return nullptr;
    return std::make_shared<const std::pair<Room, Room>>(std::move(of_route), std::move(of_all));
  }

  /// Call it if the queue of the workers was full for a request.
  void OnOverload(const ClientAddress& client) {
    Count(&status::DeniedRequests::overload);
    overload_log.Say(log::Level::kWarn, "queue", SystemClock().Now(),
                     "too many requests wait for a handler; answering 503", {{"client", ToString(client)}});
  }

  /// Logs warnings about the web file: at startup and after each change of the web file.
  void WarnOfWebFile() const {
    if (!web->has_file()) return;
    const std::string warning = webconfig::WebWarning(*web->current(), web->path(), reach, SystemClock().Wall());
    if (!warning.empty()) log::Warn("web configuration", {{"problem", warning}});
  }

  const std::shared_ptr<EventLoop> loop;  // Responders keep it alive too
  const Limits limits;
  size_t max_connections;    // at most limits.connections; fixed while the thread runs, as the next two
  size_t max_refusing = 32;  // above it, a refused connection is closed without an answer
  webconfig::Reach reach = webconfig::Reach::kThisMachine;  // kNetwork from the first address that others reach
  const std::unique_ptr<webconfig::WebSettings> web;
  const BodyBudget bodies;
  WorkerPool workers;  // for routes that run on them
  Routes routes;       // fixed while the thread runs
  mutable std::mutex status_mutex;
  status::HttpStatus counted;  // guarded by status_mutex
  PasswordChecker passwords;
  ClientBuckets buckets;
  MemoryReturn memory{*loop};
  std::array<char, 16384> scratch{};  // buffer for all reads, so that idle connections need no buffer
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections;
  size_t refusing = 0;  // number of connections above the limit: they get 503 and are closed
  ClientShares shares;  // of the connections within the limit
  log::LogLimiter overload_log{std::chrono::minutes(1)};
  bool draining = false;
  std::function<void()> when_empty;  // called when the last connection closes while draining
};

}  // namespace kepler::http::server
