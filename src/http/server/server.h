#pragma once
// A small HTTP/1.1 server for exporters: TLS, authentication, limits. Knows no metric.
// A handler on the I/O thread must not block: it answers from memory, or keeps the Responder and answers later from any
// thread. A handler that needs time runs on the workers. It never delays the I/O thread or a login.
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "http/server/request.h"
#include "status/http_status.h"

namespace kepler::http::server {

class PieceResponder;
/// Called on the I/O thread for each piece of a streamed answer, after the previous piece was sent. So a slow client
/// delays only its own stream, and only one piece is in memory. Destroyed when the stream ends.
using Pieces = std::function<void(PieceResponder)>;

struct Response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string content_encoding{};  // "" or "gzip"
  Body body{};                     // null: an empty body
  std::vector<std::pair<std::string, std::string>> headers{};
  Pieces pieces{};  // instead of a body: sent in chunks, or to an HTTP/1.0 client until the connection ends
};

/// Answers one request, once, from any thread; copies share the request. If the last copy is destroyed without an
/// answer, the client gets 500. If the client has closed the connection, the answer has no effect.
class Responder {
 public:
  struct Impl;
  explicit Responder(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void operator()(Response response) const;
  /// Returns false if the client will not get the answer: it was answered, the server closed the connection (deadline,
  /// limit of connections, Stop()), or the client reset the connection, which is noticed while the request is on a
  /// worker. A long handler checks this periodically, and returns if it is false. Any thread.
  [[nodiscard]] bool IsAwaited() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Passes on one piece of a streamed answer; an empty piece ends it. If the last copy is destroyed without a piece, the
/// connection is cut, so that the client notices it. A closed connection is noticed only when a piece is sent, so send
/// one periodically. The stream is also cut if the server stops, or if TLS or users change.
class PieceResponder {
 public:
  explicit PieceResponder(Responder responder) : responder_(std::move(responder)) {}
  void operator()(Body piece) const { responder_({.body = std::move(piece)}); }

 private:
  Responder responder_;
};

using Handler = std::function<void(const Request&, Responder)>;

enum class RunsOn : uint8_t {
  kIoThread,  // must not block
  kWorkers    // may block, within Limits::handler_time; several at once
};

struct Route {
  std::string path;                         // exact path, or a prefix that ends in "/"; "/" itself is exact
  std::vector<std::string> methods{"GET"};  // GET includes HEAD
  size_t max_body = 0;                      // maximum bytes of a request's body; 0: the handler gets no body
  // Maximum bytes of all bodies of this route that have an owner, so that one route cannot use up Limits::body_bytes.
  // At least max_body.
  size_t max_bodies = std::numeric_limits<size_t>::max();
  RunsOn runs_on = RunsOn::kIoThread;
  bool open = false;  // needs no login, also if the web file has users; a wrong login is refused
};

struct Limits {
  // Maximum number of connections. At this limit a new connection closes another one, in this order:
  // 1. the one that has waited longest for its first request
  // 2. the one that has waited longest for the check of its password
  // 3. the one that has waited longest for its next request
  // 4. the oldest one of the client with most connections, in the network with most connections
  // A client without a login is a newcomer for first_words_time. 1 and 2 spare newcomers; 3 applies only without
  // newcomers. 4 needs two connections more than the network of the new connection has, and more than other clients
  // have newcomers; in its own network, two more than its client has. If none can be closed, the new connection is
  // answered 503.
  unsigned connections = 1024;
  std::chrono::milliseconds first_words_time{1'000};  // time for which a client without a login is a newcomer
  unsigned header_bytes = 16 * 1024;
  // Maximum time for the TLS handshake and the head of a request. If only the body of an answered request is missing,
  // the connection is closed without an answer. A login whose password could not be checked in this time gets 503.
  std::chrono::milliseconds header_time{5'000};
  std::chrono::milliseconds idle_time{120'000};  // keep-alive
  // Maximum time for each 64 KiB of a body, and for its last bytes.
  std::chrono::milliseconds body_time{10'000};
  // Maximum bytes of all bodies that have an owner. Above this or Route::max_bodies, a request gets 503. The length of
  // a body in chunks is unknown, so such a body counts as Route::max_body.
  size_t body_bytes = size_t{32} << 20;
  // Number of threads for routes that run on workers; none is started without such a route. `queued_requests`: maximum
  // number of requests that wait for these threads; further requests get 503.
  unsigned workers = 2;
  unsigned queued_requests = 64;
  // Maximum time on the workers, with the wait. After it the client gets 503, and the connection is closed.
  std::chrono::milliseconds handler_time{30'000};
  std::chrono::milliseconds write_time{10'000};  // maximum time to send a response or a piece
  std::chrono::milliseconds shutdown_time{5'000};
  // Time between two checks of the web configuration files; 0: they are checked at each connection and request. A
  // change takes effect at the second check that finds it.
  std::chrono::milliseconds web_check_time{1'000};
};

struct ServerOptions {
  std::vector<std::string> listen_addresses{};  // "host:port", ":port", "[v6]:port"; port 0 picks one (tests)
  std::string web_config_file{};                // exporter-toolkit file; "" for none
  Limits limits{};
};

/// Returns the error that Create() would return for a web configuration file, else its warnings ("": none). Reads the
/// files that it names. Opens no socket and resolves no name: a name other than localhost counts as a network address.
[[nodiscard]] Result<std::string> CheckWebConfig(const std::string& path,
                                                 std::span<const std::string> listen_addresses);

/// Returns the error that Create() would return for the addresses. Binds each one for a moment, and resolves host
/// names. A port in use is not an error, because a running agent may use it.
[[nodiscard]] Status CheckAddresses(std::span<const std::string> listen_addresses);

class Server {
 public:
  /// Binds every address and reads the web configuration. An error names the address or FILE:LINE, and the reason.
  /// Warnings about the file are logged.
  [[nodiscard]] static Result<std::unique_ptr<Server>> Create(ServerOptions options);
  ~Server();  // stops

  /// Call before Start(). The longest path wins. Requests reach the handler after the rate limit and authentication.
  void Handle(const Route& route, const Handler& handler);
  void Handle(std::string path, const Handler& handler) { Handle(Route{.path = std::move(path)}, handler); }
  /// Call before Start(). Sets the maximum number of descriptors for clients, in addition to the limit of connections.
  void LimitSockets(uint64_t max);
  /// Starts the I/O thread, and the workers if a route needs them. Error: no thread can be started.
  [[nodiscard]] Status Start();
  /// Stops accepting connections, answers 503 to requests that wait for a worker, waits at most shutdown_time for
  /// running answers, and closes all connections. Then waits until running handlers have returned, because they may use
  /// objects that the owner destroys next. Idempotent. Must not be called from a handler.
  void Stop();
  /// Reads the web configuration again (SIGHUP; it is also read again when the file changes). After an error the old
  /// one stays in use. A change takes effect when the next check finds the same files.
  [[nodiscard]] Status ReloadWebConfig();
  /// The bound addresses, such as "127.0.0.1:28282", in the order of listen_addresses.
  [[nodiscard]] std::vector<std::string> addresses() const;
  [[nodiscard]] bool tls() const;
  [[nodiscard]] status::HttpStatus status() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::http::server
