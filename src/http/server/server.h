#pragma once
// A small HTTP/1.1 server for exporters: TLS, authentication, limits. Knows no metric.
// Handlers run on the server's I/O thread and must not block; a handler that needs time keeps the Responder and answers
// later from any thread.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "snapshot/status.h"

namespace kepler::http {

struct Request {
  std::string method;  // always "GET": HEAD is answered by the server with GET's headers, others with 405
  std::string path;    // decoded, without the query
  std::string query;
  std::string accept;
  std::string accept_encoding;
};

/// A body that many responses may share; never copied.
using Body = std::shared_ptr<const std::string>;

struct Response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string content_encoding{};  // "" or "gzip"
  Body body{};                     // null is an empty body
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Answers one request, once, from any thread; copies share the request. Dropping the last copy unanswered sends 500.
/// A client that went away meanwhile makes the answer a no-op.
class Responder {
 public:
  struct Impl;
  explicit Responder(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void operator()(Response response) const;

 private:
  std::shared_ptr<Impl> impl_;
};

using Handler = std::function<void(const Request&, Responder)>;

struct Limits {
  // One more takes the place of one that waits: for a request without ever having been let in, else for its password to
  // be checked, else for a request; of these the one that has waited longest. Where all are being served, or too new to
  // be blamed, it is answered 503.
  unsigned connections = 1024;
  std::chrono::milliseconds first_words_time{1'000};  // a new connection keeps its place so long, and so does a login
  unsigned header_bytes = 16 * 1024;
  // A slow-loris client is cut here, TLS handshake included, and without a word where only the body of a request that
  // was answered is missing; a login whose password could not be checked is answered 503.
  std::chrono::milliseconds header_time{5'000};
  std::chrono::milliseconds idle_time{120'000};  // keep-alive
  std::chrono::milliseconds write_time{10'000};  // a reader that takes longer for one response is cut
  std::chrono::milliseconds shutdown_time{5'000};
  // The files of the web configuration are looked at this often; 0: at each connection and request. A change counts at
  // the second look that finds it.
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

class Server {
 public:
  /// Binds every address and reads the web configuration; an error names the address or FILE:LINE and why. What the
  /// file does not do though it looks so is logged.
  [[nodiscard]] static Result<std::unique_ptr<Server>> Create(ServerOptions options);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Exact path, before Start(). GET and HEAD reach the handler once rate limit and authentication are passed.
  void Handle(std::string path, Handler handler);
  /// Before Start(): clients get at most so many descriptors of the process, whatever the limits of connections say.
  void LimitSockets(uint64_t most);
  /// Starts the I/O thread and returns; an error means that there can be none.
  [[nodiscard]] Status Start();
  /// Stops accepting, lets running answers finish for at most shutdown_time, closes. Idempotent. Not from a handler.
  void Stop();
  /// Reads the web configuration again (SIGHUP). On error the old one stays; a change counts once the next look has
  /// found the same. (It is also re-read when the file changes.)
  [[nodiscard]] Status ReloadWebConfig();
  /// The bound addresses, "127.0.0.1:28282" style, in order of listen_addresses.
  [[nodiscard]] std::vector<std::string> addresses() const;
  [[nodiscard]] bool tls() const;
  [[nodiscard]] snapshot::HttpStatus status() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::http
