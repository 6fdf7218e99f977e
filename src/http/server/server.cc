#include "http/server/server.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/thread.h"
#include "http/server/connection.h"
#include "http/server/listen_address.h"
#include "http/server/listener.h"
#include "http/server/server_core.h"
#include "http/server/web_warning.h"

namespace kepler::http {
struct Server::Impl {
  Impl(std::shared_ptr<EventLoop> the_loop, const Limits& limits, std::unique_ptr<WebSettings> web)
      : loop(std::move(the_loop)), core(loop, limits, std::move(web)) {}

  void BeginDrain() {
    core.draining = true;
    for (auto& listener : listeners) listener->Close();
    // Posted behind the waits that closing cancels, so that they and what they own are gone when the loop stops.
    core.when_empty = [this] { loop->Post([this] { loop->Stop(); }); };
    CloseEach([](Connection& connection) { connection.Drain(); });
    if (core.connections.empty()) return core.when_empty();
    grace.Start(core.limits.shutdown_time, [this] { CloseEach([](Connection& connection) { connection.Close(); }); });
  }

  void LookAtWebFile() {
    Connection::LookAtWebFile(core);
    look.Start(core.limits.web_check_time, [this] { LookAtWebFile(); });
  }

  /// Closing changes the table, hence the copy.
  template <class Act>
  void CloseEach(Act act) {
    const auto connections = core.connections;
    for (const auto& [key, connection] : connections) act(*connection);
  }

  const std::shared_ptr<EventLoop> loop;
  ServerCore core;
  Timer grace{*loop};
  Timer look{*loop};
  std::vector<std::unique_ptr<Listener>> listeners;
  std::mutex stopping;  // guards `stopped` and `thread`
  bool stopped = false;
  std::jthread thread;
};

Result<std::string> CheckWebConfig(const std::string& path, std::span<const std::string> listen_addresses) {
  KEPLER_TRY(const auto web, WebSettings::Create(path, Limits{}.web_check_time));
  const bool local = std::ranges::all_of(listen_addresses, [](const auto& address) { return NamesLoopback(address); });
  return WebWarning(web->current()->config, path, local ? Reach::kThisMachine : Reach::kNetwork);
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { Stop(); }

Result<std::unique_ptr<Server>> Server::Create(ServerOptions options) {
  if (options.listen_addresses.empty()) {
    return Fail(ErrorKind::kInvalid, "no listen address; set web.listen-address, for instance to :28282");
  }
  KEPLER_TRY(auto web, WebSettings::Create(std::move(options.web_config_file), options.limits.web_check_time));
  auto impl = std::make_unique<Impl>(std::make_shared<EventLoop>(), options.limits, std::move(web));
  std::vector<OwnListener> open;
  for (const auto& address : options.listen_addresses) {
    KEPLER_TRY(auto fd, Listen(address, open));
    open.push_back({address, fd.get()});
    if (!IsLoopback(fd.get())) impl->core.reach = Reach::kNetwork;
    KEPLER_TRY(auto watch, FdWatch::Create(*impl->loop, std::move(fd)));
    impl->listeners.push_back(std::make_unique<Listener>(impl->core, std::move(watch)));
  }
  impl->core.WarnOfWebFile();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::Handle(std::string path, Handler handler) {
  impl_->core.handlers.insert_or_assign(std::move(path), std::move(handler));
}

void Server::LimitSockets(uint64_t most) {
  ServerCore& core = impl_->core;
  core.max_refusing = std::min<uint64_t>(core.max_refusing, most / 8);
  const uint64_t served = most - core.max_refusing;
  if (served >= core.max_connections) return;
  log::Info("fewer connections are served than configured: the limit of open files is low",
            {{"connections", std::to_string(served)}, {"configured", std::to_string(core.max_connections)}});
  core.max_connections = served;
}

Status Server::Start() {
  const std::scoped_lock lock(impl_->stopping);
  if (impl_->stopped || impl_->thread.joinable()) return {};
  KEPLER_TRY(impl_->thread, StartThread("http", [loop = impl_->loop](const std::stop_token&) { loop->Run(); }));
  for (auto& listener : impl_->listeners) impl_->loop->Post([&listener] { listener->Accept(); });
  if (impl_->core.web->has_file() && impl_->core.limits.web_check_time.count() > 0)
    impl_->loop->Post([impl = impl_.get()] { impl->LookAtWebFile(); });
  return {};
}

void Server::Stop() {
  const std::scoped_lock lock(impl_->stopping);
  if (std::exchange(impl_->stopped, true)) return;
  if (!impl_->thread.joinable()) {  // never started: nothing runs that could be drained
    for (auto& listener : impl_->listeners) listener->Close();
    return;
  }
  impl_->loop->Post([impl = impl_.get()] { impl->BeginDrain(); });
  impl_->thread.join();
}

Status Server::ReloadWebConfig() { return impl_->core.web->Reload(std::chrono::steady_clock::now()); }

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& listener : impl_->listeners) addresses.push_back(listener->address());
  return addresses;
}

bool Server::tls() const { return impl_->core.web->current()->tls != nullptr; }

snapshot::HttpStatus Server::status() const {
  const auto& counters = impl_->core.counters;
  const WebReload reload = impl_->core.web->reload();
  const auto denied = [&](Denial reason) { return counters.denied[static_cast<size_t>(reason)].load(); };
  return {.connections_open = counters.open,
          .connections = counters.total,
          .connections_refused = counters.refused,
          .connections_evicted = counters.evicted,
          .requests = counters.requests,
          .requests_denied = {.backoff = denied(Denial::kBackoff),
                              .busy = denied(Denial::kBusy),
                              .no_credentials = denied(Denial::kNoCredentials),
                              .password = denied(Denial::kPassword),
                              .rate_limit = denied(Denial::kRateLimit)},
          .timeouts = counters.timeouts,
          .accept_errors = counters.accept_errors,
          .handshake_errors = counters.handshake_errors,
          .reload_successful = reload.successful,
          .reload_success = reload.last_success,
          .certificate_expiry = impl_->core.web->current()->certificate_expiry};
}

}  // namespace kepler::http
