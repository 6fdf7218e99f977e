#pragma once
// ClientConnection: TCP or TLS to one peer. Each call waits on the caller's thread until its deadline, an answer, or
// Interrupt(). For this room and http/grpc. One thread at a time, except Interrupt().
#include <chrono>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "http/client/client_tls.h"
#include "http/client/peer.h"

struct ssl_session_st;  // of OpenSSL

namespace kepler::http::client {

/// A TLS session that a later connection to the same peer resumes.
using TlsSession = std::shared_ptr<ssl_session_st>;

class ClientConnection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// What a wait has brought; at least one of these.
  struct Progress {
    std::string_view received{};  // valid until the next Wait()
    bool ended = false;           // the server has ended the connection
    size_t sent = 0;              // bytes of `unsent`
    bool is_cut = false;          // nothing more can be sent
  };

  /// `context`: null without TLS.
  ClientConnection(Peer peer, std::shared_ptr<TlsContext> context);
  ~ClientConnection();
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  /// Connects to the first address that answers. Each step may take `silence`, all of them until `end`.
  [[nodiscard]] Status Open(std::chrono::milliseconds silence, Time end, const TlsSession& session);
  /// Receives and, at the same time, sends `unsent` ("": nothing). What was not sent must stay in place and be passed
  /// again. After an error the connection is of no use. `has_head`: the head of the answer has come; errors say so.
  [[nodiscard]] Result<Progress> Wait(std::string_view unsent, Time deadline, bool has_head);
  /// Ends the waits of this exchange at once. Any thread.
  void Interrupt();
  /// Begins another exchange, before anything may call Interrupt().
  void Restart();
  /// Whether the connection is open and nothing was received that belongs to no request.
  [[nodiscard]] bool IsQuiet() const;
  /// The latest session; null: none that can be resumed.
  [[nodiscard]] TlsSession Session() const;

 private:
  struct Operation;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::http::client
