#pragma once
// Channel: unary gRPC calls to one server, over a connection that is kept for the next call. Source: gRPC's
// PROTOCOL-HTTP2.md. Without TLS the client speaks HTTP/2 at once (prior knowledge). One thread.
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "http/client/client.h"
#include "http/client/peer.h"
#include "http/grpc/status.h"

namespace kepler::http::grpc {

struct ChannelOptions {
  bool gzip = false;                            // the messages are compressed with gzip already
  size_t max_answer = 64 * 1024;                // bytes of an answer's message
  Nanoseconds idle = std::chrono::seconds(50);  // a connection that waited for longer is closed by the next call
};

/// The server's answer to a call.
struct Reply {
  Code code = Code::kUnknown;
  std::string text{};                           // why the call failed; not sanitized
  std::optional<Nanoseconds> retry_delay{};     // of RetryInfo
  Result<std::string> message = std::string();  // of kOk; kMalformed if it cannot be read
};

/// As client::CheckHeader(), for a call: gRPC and HTTP/2 have further headers of their own.
[[nodiscard]] Status CheckHeader(std::string_view name, std::string_view value);

class Channel {
 public:
  explicit Channel(ChannelOptions options);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Of `request` it uses target ("/package.Service/Method"), login, headers (as metadata), body (one message, not
  /// null) and deadlines. The total deadline is sent too, as grpc-timeout; 0: the deadline of silence is that of the
  /// call. If the server has closed a kept connection, or refuses more calls on it, the call is sent once more on a new
  /// connection. Another peer than before gets a new connection.
  /// Errors: those of Client::Send(). An answer above the limit is RESOURCE_EXHAUSTED.
  [[nodiscard]] Result<Reply> Call(client::Peer peer, const client::ClientRequest& request,
                                   const std::stop_token& stop);

 private:
  struct Connection;
  struct Known;
  [[nodiscard]] Status Use(client::Peer peer);
  [[nodiscard]] Result<Reply> CallOnce(const client::ClientRequest& request, const std::stop_token& stop,
                                       bool& can_restart);

  const ChannelOptions options_;
  std::unique_ptr<Known> known_;  // null before the first call
};

}  // namespace kepler::http::grpc
