#pragma once
// GrpcSender: sends OTLP requests as unary gRPC calls, for push::Target. Source: the specification's page on OTLP
// (protocol/otlp.md, "OTLP/gRPC Response").
#include <stop_token>
#include <string_view>

#include "base/result.h"
#include "http/client/client.h"
#include "http/grpc/channel.h"

namespace kepler::otlp {

/// The path of each request.
inline constexpr std::string_view kGrpcPath = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// Returns the HTTP answer with the effect of `reply`: 200 for OK, 429, 502 or 503 if the specification allows a retry,
/// any other status if not. RESOURCE_EXHAUSTED is retried only with RetryInfo. The body is "CODE: text". The error
/// kTimeout for DEADLINE_EXCEEDED, as if there were no answer.
[[nodiscard]] Result<http::client::Answer> ToAnswer(const http::grpc::Reply& reply);

/// One thread.
class GrpcSender {
 public:
  /// `gzip`: the bodies are compressed with gzip.
  explicit GrpcSender(bool gzip) : channel_({.gzip = gzip}) {}

  /// As push::Target::send. After OK, an answer that cannot be read is an error behind the first piece.
  [[nodiscard]] Result<http::client::Answer> Send(const http::client::Peer& peer,
                                                  const http::client::ClientRequest& request,
                                                  const http::client::OnPiece& take, const std::stop_token& stop);

 private:
  http::grpc::Channel channel_;
};

}  // namespace kepler::otlp
