#pragma once
// A server on 127.0.0.1 whose answers are written by a test, byte by byte: right ones, wrong ones, cut ones, none at
// all.
#include <openssl/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace kepler::testing {

/// PEM texts. `client_ca`: who may come; "" everybody. `protocol`: chosen by ALPN, such as "h2"; "": none.
struct PeerCertificate {
  std::string cert, key;
  std::string client_ca{};
  std::string protocol{};
};

/// One connection of a client. One thread.
class PeerConnection {
 public:
  /// `ssl`: null without TLS. Both must outlive it.
  PeerConnection(int fd, SSL* ssl, std::atomic<size_t>& calls) : fd_(fd), ssl_(ssl), calls_(calls) {}

  /// The next request up to its empty line; nothing: the client is gone.
  [[nodiscard]] std::optional<std::string> ReadHead();
  /// Returns `count` bytes of a body, fewer if the client is gone.
  [[nodiscard]] std::string ReadBytes(size_t count);
  /// Returns the bytes up to `end`, with `end`; nothing: the client is gone.
  [[nodiscard]] std::optional<std::string> ReadUntil(std::string_view end);
  /// Whether the client is still there.
  bool Send(std::string_view bytes);
  /// The same in one packet, with TLS in two records. Both are short.
  bool SendTogether(std::string_view first, std::string_view second);

 private:
  [[nodiscard]] bool ReadMore();

  const int fd_;
  SSL* const ssl_;
  std::atomic<size_t>& calls_;
  std::string unread_;
};

class ScriptedPeer {
 public:
  /// `head`: the request up to its empty line. `send` answers whether the client is still there. The connection is
  /// closed when the script returns; one that waits does so until `stop`.
  using Send = std::function<bool(std::string_view bytes)>;
  using Script = std::function<void(const std::string& head, const Send& send, const std::stop_token& stop)>;

  /// A script that serves a whole connection, which is closed when it returns.
  using Conversation = std::function<void(PeerConnection& client, const std::stop_token& stop)>;

  /// With a thread for each connection. No certificate: plain HTTP.
  explicit ScriptedPeer(Conversation conversation, const PeerCertificate& certificate = {});
  explicit ScriptedPeer(Script script, const PeerCertificate& certificate = {});
  ~ScriptedPeer();

  [[nodiscard]] uint16_t port() const { return port_; }
  /// Requests that came.
  [[nodiscard]] size_t calls() const { return calls_; }
  /// Connections that came, and how many of them resumed a TLS session.
  [[nodiscard]] size_t connections() const { return connections_; }
  [[nodiscard]] size_t resumed() const { return resumed_; }
  /// The name that the latest of them asked for (SNI); "" for none.
  [[nodiscard]] std::string asked_name() const;

 private:
  void Serve(UniqueFd client, const std::stop_token& stop);

  const Conversation conversation_;
  std::string protocol_;          // chosen by ALPN
  std::shared_ptr<SSL_CTX> tls_;  // null: none
  UniqueFd listener_;
  uint16_t port_ = 0;
  std::atomic<size_t> calls_ = 0;
  std::atomic<size_t> connections_ = 0;
  std::atomic<size_t> resumed_ = 0;
  mutable std::mutex mutex_;
  std::string asked_name_;
  std::vector<int> open_;  // connections
  std::vector<std::jthread> clients_;
  std::jthread acceptor_;  // keep last
};

/// Waits for the end of the test, as a server that hangs.
void WaitFor(const std::stop_token& stop);
/// Waits for the end of the test, at most this long. True: the test goes on.
[[nodiscard]] bool PauseFor(std::chrono::milliseconds time, const std::stop_token& stop);
/// Waits until clients in this process have read everything that the peer on this port has sent, or for the end of the
/// test.
void WaitUntilRead(uint16_t port, const std::stop_token& stop);

/// Waits until the peer on this port has closed its connections with clients in this process.
void WaitUntilClosed(uint16_t port);

}  // namespace kepler::testing
