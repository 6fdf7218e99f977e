#pragma once
// What all connections of a server share. On the I/O thread, except the counters.
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "http/server/event_loop.h"
#include "http/server/password_checker.h"
#include "http/server/server.h"
#include "http/server/token_bucket.h"
#include "http/server/web_settings.h"

namespace kepler::http {

class Connection;

struct Counters {  // read from any thread
  std::atomic<uint64_t> open{0}, total{0}, refused{0}, evicted{0}, requests{0}, denied{0}, timeouts{0},
      accept_errors{0}, handshake_errors{0};
};

struct ServerCore {
  ServerCore(std::shared_ptr<EventLoop> the_loop, const Limits& the_limits, std::unique_ptr<WebSettings> the_web)
      : loop(std::move(the_loop)), limits(the_limits), web(std::move(the_web)), passwords(*loop) {}

  const std::shared_ptr<EventLoop> loop;  // Responders keep it alive too
  const Limits limits;
  const std::unique_ptr<WebSettings> web;
  std::map<std::string, Handler, std::less<>> handlers;  // fixed once the thread runs
  Counters counters;
  PasswordChecker passwords;
  TokenBucket bucket;
  std::array<char, 16384> scratch{};  // what a read lands in, so that idle connections hold no buffer
  std::unordered_map<const Connection*, std::shared_ptr<Connection>> connections;
  size_t refusing = 0;  // of these, over the limit and only told so
  bool draining = false;
  std::function<void()> when_empty;  // called when the last connection closes while draining
};

}  // namespace kepler::http
