#include "http/server/server.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "base/thread.h"
#include "http/server/acceptor.h"
#include "http/server/connection.h"
#include "http/server/listen_address.h"
#include "http/server/server_core.h"
#include "http/webconfig/web_config.h"

namespace kepler::http::server {
struct Server::Impl {
  Impl(const Limits& limits, std::unique_ptr<webconfig::WebSettings> web)
      : core(std::make_shared<EventLoop>(), limits, std::move(web)) {}

  void BeginDrain() {
    core.draining = true;
    for (auto& acceptor : acceptors) acceptor->Close();
    core.workers.Close();
    // Posted after the waits that closing cancels, so that these waits and their objects are destroyed before the stop.
    core.when_empty = [this] { core.loop->Post([this] { core.loop->Stop(); }); };
    core.ForEach(&Connection::Drain);
    if (core.connections.empty()) return core.when_empty();
    grace.Start(core.limits.shutdown_time, [this] { core.ForEach(&Connection::Close); });
  }

  void CheckWebFile() {
    Connection::CheckWebFile(core);
    web_check.Start(core.limits.web_check_time, [this] { CheckWebFile(); });
  }

  ServerCore core;
  Timer grace{*core.loop};
  Timer web_check{*core.loop};
  std::vector<std::unique_ptr<Acceptor>> acceptors;
  std::mutex stopping;  // guards `stopped` and `thread`
  bool stopped = false;
  std::jthread thread;
};

Result<std::string> CheckWebConfig(const std::string& path, std::span<const std::string> listen_addresses) {
  KEPLER_TRY(const auto web, webconfig::WebSettings::Create(path, Limits{}.web_check_time));
  const bool local = std::ranges::all_of(listen_addresses, [](const auto& address) { return NamesLoopback(address); });
  return webconfig::WebWarning(
      *web->current(), path, local ? webconfig::Reach::kThisMachine : webconfig::Reach::kNetwork, SystemClock().Wall());
}

Status CheckAddresses(std::span<const std::string> listen_addresses) {
  std::vector<UniqueFd> sockets;
  std::vector<OwnAddress> bound;
  for (const std::string& address : listen_addresses) {
    KEPLER_TRY(sockets.emplace_back(), CheckAddress(address, bound));
    bound.push_back({address, sockets.back().get()});
  }
  return {};
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { Stop(); }

Result<std::unique_ptr<Server>> Server::Create(ServerOptions options) {
  if (options.listen_addresses.empty()) return Fail(ErrorKind::kInvalid, "no listen address; set one, such as :28282");
  KEPLER_TRY(auto web,
             webconfig::WebSettings::Create(std::move(options.web_config_file), options.limits.web_check_time));
  auto impl = std::make_unique<Impl>(options.limits, std::move(web));
  std::vector<OwnAddress> open;
  for (const auto& address : options.listen_addresses) {
    KEPLER_TRY(auto fd, Listen(address, open));
    open.push_back({address, fd.get()});
    if (!NamesLoopback(LocalAddress(fd.get()))) impl->core.reach = webconfig::Reach::kNetwork;
    KEPLER_TRY(auto socket, Socket::Create(*impl->core.loop, std::move(fd)));
    impl->acceptors.push_back(std::make_unique<Acceptor>(impl->core, std::move(socket)));
  }
  impl->core.WarnOfWebFile();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

void Server::Handle(const Route& route, const Handler& handler) { impl_->core.routes.Add(route, handler); }

void Server::LimitSockets(uint64_t max) {
  ServerCore& core = impl_->core;
  core.max_refusing = std::min<uint64_t>(core.max_refusing, max / 8);
  const uint64_t served = max - core.max_refusing;
  if (served >= core.max_connections) return;
  log::Info("the limit of open files is too low, using fewer connections",
            {{"connections", std::to_string(served)}, {"configured", std::to_string(core.max_connections)}});
  core.max_connections = served;
}

Status Server::Start() {
  const std::scoped_lock lock(impl_->stopping);
  if (impl_->stopped || impl_->thread.joinable()) return {};
  if (impl_->core.routes.NeedWorkers()) KEPLER_CHECK_OK(impl_->core.workers.Start());
  KEPLER_TRY(impl_->thread, StartThread("http", [loop = impl_->core.loop](const std::stop_token&) { loop->Run(); }));
  for (auto& acceptor : impl_->acceptors) impl_->core.loop->Post([&acceptor] { acceptor->Accept(); });
  if (impl_->core.web->has_file() && impl_->core.limits.web_check_time.count() > 0)
    impl_->core.loop->Post([impl = impl_.get()] { impl->CheckWebFile(); });
  return {};
}

void Server::Stop() {
  const std::scoped_lock lock(impl_->stopping);
  if (std::exchange(impl_->stopped, true)) return;
  if (impl_->thread.joinable()) {
    impl_->core.loop->Post([impl = impl_.get()] { impl->BeginDrain(); });
    impl_->thread.join();
  } else {  // not started, so there is nothing to drain
    for (auto& acceptor : impl_->acceptors) acceptor->Close();
  }
  impl_->core.workers.EndBy(std::chrono::steady_clock::time_point::max());
}

Status Server::ReloadWebConfig() { return impl_->core.web->Reload(std::chrono::steady_clock::now()); }

std::vector<std::string> Server::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& acceptor : impl_->acceptors) addresses.push_back(acceptor->address());
  return addresses;
}

bool Server::tls() const { return impl_->core.web->current()->tls != nullptr; }

status::HttpStatus Server::status() const { return impl_->core.status(); }

}  // namespace kepler::http::server
