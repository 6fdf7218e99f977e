#pragma once
// What all connections of a server share. On the I/O thread, except the counters.
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/log.h"
#include "http/server/client_buckets.h"
#include "http/server/event_loop.h"
#include "http/server/memory_return.h"
#include "http/server/password_checker.h"
#include "http/server/server.h"
#include "http/server/web_settings.h"
#include "http/server/web_warning.h"

namespace kepler::http {

class Connection;

enum class Denial : uint8_t { kBackoff, kBusy, kNoCredentials, kPassword, kRateLimit };
constexpr size_t kDenials = 5;

struct Counters {  // read from any thread
  std::atomic<uint64_t> open{0}, total{0}, refused{0}, evicted{0}, requests{0}, timeouts{0}, accept_errors{0},
      handshake_errors{0};
  std::array<std::atomic<uint64_t>, kDenials> denied{};  // by Denial
};

struct ServerCore {
  /// `matches` hashes passwords; tests have their own.
  ServerCore(std::shared_ptr<EventLoop> the_loop, const Limits& the_limits, std::unique_ptr<WebSettings> the_web,
             HashWorker::Matches matches = BcryptMatches)
      : loop(std::move(the_loop)),
        limits(the_limits),
        max_connections(the_limits.connections),
        web(std::move(the_web)),
        passwords(*loop, std::move(matches)) {}

  /// After `connections` or `refusing` has changed.
  void CountConnections() {
    counters.open = connections.size() - refusing;
    memory.OnConnections(connections.size());
  }

  /// At the start, and whenever another web file has come into force.
  void WarnOfWebFile() const {
    if (!web->has_file()) return;
    if (const std::string warning = WebWarning(web->current()->config, web->path(), reach); !warning.empty())
      log::Warn("web configuration", {{"problem", warning}});
  }

  const std::shared_ptr<EventLoop> loop;  // Responders keep it alive too
  const Limits limits;
  size_t max_connections;             // those of limits, or fewer; fixed once the thread runs, as the next two
  size_t max_refusing = 32;           // beyond, a refused client is closed without a word
  Reach reach = Reach::kThisMachine;  // kNetwork from the first address that others reach
  const std::unique_ptr<WebSettings> web;
  std::map<std::string, Handler, std::less<>> handlers;  // fixed once the thread runs
  Counters counters;
  PasswordChecker passwords;
  ClientBuckets buckets;
  MemoryReturn memory{*loop};
  std::array<char, 16384> scratch{};  // what a read lands in, so that idle connections hold no buffer
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections;
  size_t refusing = 0;  // of these, over the limit and only told so
  bool draining = false;
  std::function<void()> when_empty;  // called when the last connection closes while draining
};

}  // namespace kepler::http
