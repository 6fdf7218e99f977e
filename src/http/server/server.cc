#include "http/server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/thread.h"
#include "http/server/connection.h"
#include "http/server/listen_address.h"
#include "http/server/listener.h"
#include "http/server/server_core.h"

namespace kepler::http {
namespace {

/// Half of the descriptors stay for what the program is there for.
unsigned AffordableConnections(unsigned wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / 2 >= wanted) return wanted;
  const auto affordable = static_cast<unsigned>(files.rlim_cur / 2);
  log::Info("fewer connections are served than configured: the limit of open files is low",
            {{"connections", std::to_string(affordable)}, {"configured", std::to_string(wanted)}});
  return affordable;
}

}  // namespace

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

  /// Closing changes the table, hence the copy.
  template <class Act>
  void CloseEach(Act act) {
    const auto connections = core.connections;
    for (const auto& [key, connection] : connections) act(*connection);
  }

  const std::shared_ptr<EventLoop> loop;
  ServerCore core;
  Timer grace{*loop};
  std::vector<std::unique_ptr<Listener>> listeners;
  std::mutex stopping;  // guards `stopped` and `thread`
  bool stopped = false;
  std::jthread thread;
};

Status CheckWebConfig(const std::string& path) {
  KEPLER_TRY([[maybe_unused]] const auto web, WebSettings::Create(path, Limits{}.web_check_time));
  return {};
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { Stop(); }

Result<std::unique_ptr<Server>> Server::Create(ServerOptions options) {
  if (options.listen_addresses.empty()) {
    return Fail(ErrorKind::kInvalid, "no listen address; set web.listen-address, for instance to :28282");
  }
  KEPLER_TRY(auto web, WebSettings::Create(std::move(options.web_config_file), options.limits.web_check_time));
  options.limits.connections = AffordableConnections(options.limits.connections);
  auto impl = std::make_unique<Impl>(std::make_shared<EventLoop>(), options.limits, std::move(web));
  for (const auto& address : options.listen_addresses) {
    KEPLER_TRY(auto fd, Listen(address));
    KEPLER_TRY(auto watch, FdWatch::Create(*impl->loop, std::move(fd)));
    impl->listeners.push_back(std::make_unique<Listener>(impl->core, std::move(watch)));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::Handle(std::string path, Handler handler) {
  impl_->core.handlers.insert_or_assign(std::move(path), std::move(handler));
}

Status Server::Start() {
  const std::scoped_lock lock(impl_->stopping);
  if (impl_->stopped || impl_->thread.joinable()) return {};
  KEPLER_TRY(impl_->thread, StartThread("http", [loop = impl_->loop](const std::stop_token&) { loop->Run(); }));
  for (auto& listener : impl_->listeners) impl_->loop->Post([&listener] { listener->Accept(); });
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

Status Server::ReloadWebConfig() { return impl_->core.web->Reload(); }

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& listener : impl_->listeners) addresses.push_back(listener->address());
  return addresses;
}

bool Server::tls() const { return impl_->core.web->current()->tls != nullptr; }

ServerStats Server::stats() const {
  const auto& counters = impl_->core.counters;
  return {.connections_open = counters.open,
          .connections_total = counters.total,
          .connections_refused = counters.refused,
          .connections_evicted = counters.evicted,
          .requests_total = counters.requests,
          .requests_denied = counters.denied,
          .timeouts = counters.timeouts,
          .accept_errors = counters.accept_errors,
          .handshake_errors = counters.handshake_errors};
}

}  // namespace kepler::http
