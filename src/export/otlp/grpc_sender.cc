#include "export/otlp/grpc_sender.h"

#include <chrono>
#include <string>
#include <utility>

namespace kepler::otlp {
namespace {

using http::client::Answer;
using http::grpc::Code;
using http::grpc::Reply;

/// push::DeliveryOptions::DefaultRetry() retries 429, 502, 503 and 504.
unsigned StatusOf(const Reply& reply) {
  switch (reply.code) {
    case Code::kOk:
      return 200;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:  // ToAnswer() makes it an error
      return 504;
    case Code::kCancelled:
    case Code::kAborted:
    case Code::kOutOfRange:
    case Code::kDataLoss:
      return reply.retry_delay ? 503 : 502;  // 503 has a delay of the server
    case Code::kResourceExhausted:
      return reply.retry_delay ? 429 : 413;
    case Code::kUnimplemented:
      return 415;
    case Code::kUnknown:
    case Code::kInternal:
      return 500;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition:
      return 400;
  }
  return 500;
}

}  // namespace

Result<Answer> ToAnswer(const Reply& reply) {
  Answer answer{.status = StatusOf(reply), .body = std::string(http::grpc::ToString(reply.code))};
  if (!reply.text.empty()) answer.body += ": " + reply.text;
  // The server has the deadline of the call too, and may report its end before our own timer does.
  if (reply.code == Code::kDeadlineExceeded) return Fail(ErrorKind::kTimeout, answer.body);
  if (reply.retry_delay)
    answer.retry_after = std::to_string(std::chrono::ceil<std::chrono::seconds>(*reply.retry_delay).count());
  return answer;
}

Result<Answer> GrpcSender::Send(const http::client::Peer& peer, const http::client::ClientRequest& request,
                                const http::client::OnPiece& take, const std::stop_token& stop) {
  KEPLER_TRY(const Reply reply, channel_.Call(peer, request, stop));
  if (reply.code == Code::kOk) {
    KEPLER_CHECK_OK(take(""));
    if (!reply.message) return std::unexpected(reply.message.error());
    KEPLER_CHECK_OK(take(*reply.message));
  }
  return ToAnswer(reply);
}

}  // namespace kepler::otlp
