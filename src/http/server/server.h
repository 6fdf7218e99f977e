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
/// Asked on the I/O thread for each piece of a streamed answer, when the one before has left this process: a slow
/// client delays nothing but its own stream, and one piece of the stream is in memory. Forgotten when the stream ends.
using Pieces = std::function<void(PieceResponder)>;

struct Response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string content_encoding{};  // "" or "gzip"
  Body body{};                     // null is an empty body
  std::vector<std::pair<std::string, std::string>> headers{};
  Pieces pieces{};  // instead of a body: sent in chunks, or to an HTTP/1.0 client until the connection ends
};

/// Answers one request, once, from any thread; copies share the request. Dropping the last copy unanswered sends 500.
/// A client that went away meanwhile makes the answer a no-op.
class Responder {
 public:
  struct Impl;
  explicit Responder(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void operator()(Response response) const;
  /// Returns false if nobody will get the answer: it was given, the server closed the connection (too late, too many
  /// connections, Stop()), or the client reset it, which is noticed while the request is on a worker. A long handler
  /// asks this now and then, and returns. From any thread.
  [[nodiscard]] bool IsAwaited() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// The same of one piece. An empty one ends the answer; dropping the last copy cuts the connection, so that the client
/// sees that something is missing. A client that is gone is noticed when a piece is sent: who waits long sends some now
/// and then. Where the server stops, or TLS or users change, no further piece is asked for: the stream is cut.
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
  std::string path;                         // exact; all that begins with it where it ends in "/" and is not "/" itself
  std::vector<std::string> methods{"GET"};  // HEAD comes with GET
  size_t max_body = 0;                      // bytes of a request's body that the handler gets; 0: it wants none
  // Bytes of all bodies of this route together, as long as anybody has them, so that one route cannot use up
  // Limits::body_bytes; at least max_body.
  size_t max_bodies = std::numeric_limits<size_t>::max();
  RunsOn runs_on = RunsOn::kIoThread;
  bool open = false;  // no login needed, also if the web file has users; a wrong one is refused
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
  std::chrono::milliseconds first_words_time{1'000};  // how long the limit of connections spares a newcomer
  unsigned header_bytes = 16 * 1024;
  // A slow-loris client is cut here, TLS handshake included, and without a word where only the body of a request that
  // was answered is missing; a login whose password could not be checked is answered 503.
  std::chrono::milliseconds header_time{5'000};
  std::chrono::milliseconds idle_time{120'000};  // keep-alive
  // Of bodies that handlers want: each 64 KiB must come within this time, and so must the last bytes.
  std::chrono::milliseconds body_time{10'000};
  // Bytes of all bodies together, as long as anybody has them. Beyond this or Route::max_bodies, a request is answered
  // 503. A body in chunks, whose length nobody knows, counts as much as the route takes.
  size_t body_bytes = size_t{32} << 20;
  // Threads for routes that run on workers; none is started without such a route. Requests that wait for them, beyond
  // which a request is answered 503.
  unsigned workers = 2;
  unsigned queued_requests = 64;
  // For the wait and the handler on a worker. Then the client is answered 503, and the connection closed.
  std::chrono::milliseconds handler_time{30'000};
  std::chrono::milliseconds write_time{10'000};  // a reader that takes longer for one response, or piece, is cut
  std::chrono::milliseconds shutdown_time{5'000};
  // The files of the web configuration are checked this often; 0: at each connection and request. A change counts at
  // the second check that finds it.
  std::chrono::milliseconds web_check_time{1'000};
};

struct ServerOptions {
  std::vector<std::string> listen_addresses{};  // "host:port", ":port", "[v6]:port"; port 0 picks one (tests)
  std::string web_config_file{};                // exporter-toolkit file; "" for none
  Limits limits{};
};

/// What Create() would say about a web configuration file, also what it would warn of ("": nothing); reads the files
/// that it names, opens no socket and asks no name server: a name other than localhost counts as the network's.
[[nodiscard]] Result<std::string> CheckWebConfig(const std::string& path,
                                                 std::span<const std::string> listen_addresses);

/// What Create() would say about the addresses. Binds each for a moment, and may ask a name server. A port that a
/// socket has is no error: it may be the agent's own.
[[nodiscard]] Status CheckAddresses(std::span<const std::string> listen_addresses);

class Server {
 public:
  /// Binds every address and reads the web configuration; an error names the address or FILE:LINE and why. What the
  /// file does not do though it looks so is logged.
  [[nodiscard]] static Result<std::unique_ptr<Server>> Create(ServerOptions options);
  ~Server();  // stops

  /// Before Start(). The longest path wins. Requests reach the handler once rate limit and authentication are passed.
  void Handle(const Route& route, const Handler& handler);
  void Handle(std::string path, const Handler& handler) { Handle(Route{.path = std::move(path)}, handler); }
  /// Before Start(): sets the maximum number of descriptors for clients, whatever the limits of connections are.
  void LimitSockets(uint64_t max);
  /// Starts the I/O thread, and the workers if a route needs them. An error means that there can be no thread.
  [[nodiscard]] Status Start();
  /// Stops accepting, answers 503 to requests that wait for a worker, lets running answers finish for at most
  /// shutdown_time, closes. Then waits until running handlers have returned, for they may use what the owner destroys
  /// next. Idempotent. Not from a handler.
  void Stop();
  /// Reads the web configuration again (SIGHUP). On error the old one stays; a change counts once the next check has
  /// found the same. (It is also re-read when the file changes.)
  [[nodiscard]] Status ReloadWebConfig();
  /// The bound addresses, "127.0.0.1:28282" style, in order of listen_addresses.
  [[nodiscard]] std::vector<std::string> addresses() const;
  [[nodiscard]] bool tls() const;
  [[nodiscard]] status::HttpStatus status() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::http::server
