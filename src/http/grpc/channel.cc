#include "http/grpc/channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/base64.h"
#include "base/percent.h"
#include "base/text.h"
#include "http/client/client_connection.h"
#include "http/client/client_tls.h"
#include "http/grpc/framing.h"
#include "http/grpc/http2_session.h"

namespace kepler::http::grpc {
namespace {

using client::ClientConnection;
using client::ClientRequest;
using client::Peer;
using SteadyTime = ClientConnection::Time;

constexpr int64_t kMaxTimeout = 99'999'999;  // milliseconds: grpc-timeout has at most eight digits
constexpr size_t kMaxShown = 200;            // bytes of an answer that is not gRPC

std::chrono::milliseconds TimeoutOf(const ClientRequest& request) {
  return request.deadlines.total.count() > 0 ? request.deadlines.total : request.deadlines.silence;
}

Http2Session::Headers HeadersOf(const Peer& peer, const ClientRequest& request, bool gzip) {
  Http2Session::Headers headers = {
      {":method", "POST"},
      {":scheme", peer.tls ? "https" : "http"},
      {":path", request.target},
      {":authority", peer.Authority()},
      {"te", "trailers"},
      {"grpc-timeout", fmt::format("{}m", std::min<int64_t>(TimeoutOf(request).count(), kMaxTimeout))},
      {"content-type", "application/grpc+proto"},
      {"grpc-accept-encoding", "identity,gzip"},
      {"user-agent", "kepler"}};
  if (gzip) headers.emplace_back("grpc-encoding", "gzip");
  if (!request.bearer_token.empty()) headers.emplace_back("authorization", "Bearer " + request.bearer_token);
  if (!request.user.empty())
    headers.emplace_back("authorization", "Basic " + EncodeBase64(request.user + ":" + request.password));
  for (const auto& [name, value] : request.headers) headers.emplace_back(ToLowerAscii(name), value);
  return headers;
}

Result<Reply> MakeReply(const Http2Session::Answer& answer, size_t max_answer, std::string_view call) {
  if (answer.is_too_large)
    return Reply{.code = Code::kResourceExhausted,
                 .text = fmt::format("the answer has more than {} bytes", max_answer)};
  const auto code = ParseCode(answer.status);
  if (!code && answer.http_status == 200 && answer.content_type.starts_with("application/grpc"))
    return Fail(ErrorKind::kMalformed, fmt::format("{}: the answer has no valid grpc-status", call));
  if (!code)
    return Reply{.code = CodeOfHttp(answer.http_status),
                 .text = fmt::format("HTTP {} without gRPC: {}", answer.http_status, answer.body.substr(0, kMaxShown))};
  if (*code == Code::kOk)
    return Reply{.code = *code, .message = ReadOnlyMessage(answer.body, answer.encoding, max_answer)};
  // gRPC requires that a client shows a malformed text as it is.
  return Reply{.code = *code, .text = PercentDecodeLenient(answer.text), .retry_delay = ReadRetryDelay(answer.details)};
}

}  // namespace

struct Channel::Connection {
  Connection(const Peer& peer, const std::shared_ptr<client::TlsContext>& context, size_t max_body)
      : session(max_body), wire(peer, context) {}

  /// `call`: names the call in errors.
  [[nodiscard]] Result<Http2Session::Answer> Exchange(SteadyTime end, std::string_view call);

  Http2Session session;  // destroyed after `wire`, whose pending write reads its bytes
  ClientConnection wire;
  SteadyTime last_call{};
};

/// The peer of the latest call, and what is kept for the next one.
struct Channel::Known {
  Peer peer;
  std::shared_ptr<client::TlsContext> context;  // null without TLS
  client::TlsSession session;
  std::unique_ptr<Connection> connection;  // null: open one
};

Result<Http2Session::Answer> Channel::Connection::Exchange(SteadyTime end, std::string_view call) {
  bool is_cut = false;
  while (!session.has_ended()) {
    const std::string_view unsent = is_cut ? std::string_view() : session.Unsent();
    if (session.has_ended()) break;
    KEPLER_TRY(const ClientConnection::Progress progress, wire.Wait(unsent, end, session.has_begun()));
    session.NoteSent(progress.sent);
    is_cut = is_cut || progress.is_cut;
    if (!progress.received.empty()) session.Take(progress.received);
    if (progress.ended && !session.has_ended())
      return Fail(ErrorKind::kUnavailable,
                  fmt::format("{}: the server closed the connection {}", call, session.reason()));
  }
  last_call = std::chrono::steady_clock::now();
  auto answer = session.TakeAnswer();
  if (!answer) return Fail(answer.error().kind, fmt::format("{}: {}", call, answer.error().message));
  return answer;
}

Status CheckHeader(std::string_view name, std::string_view value) {
  KEPLER_CHECK_OK(client::CheckHeader(name, value));
  const std::string lower = ToLowerAscii(name);
  const bool is_reserved = lower.starts_with("grpc-") || lower == "te" || lower == "user-agent" ||
                           lower == "keep-alive" || lower == "proxy-connection" || lower == "upgrade";
  if (!is_reserved) return {};
  return Fail(ErrorKind::kInvalid, fmt::format("gRPC does not allow the header {}", SanitizeUtf8(name, 100)));
}

Channel::Channel(ChannelOptions options) : options_(options) {}
Channel::~Channel() = default;

Status Channel::Use(Peer peer) {
  peer.http2 = true;
  if (known_ && known_->peer == peer) {
    const bool is_old =
        known_->connection && std::chrono::steady_clock::now() - known_->connection->last_call > options_.idle;
    if (is_old) known_->connection.reset();
    return {};
  }
  known_.reset();
  KEPLER_TRY(auto context, client::MakeTlsContext(peer));
  known_ = std::make_unique<Known>(
      Known{.peer = std::move(peer), .context = std::move(context), .session = {}, .connection = {}});
  return {};
}

Result<Reply> Channel::Call(Peer peer, const ClientRequest& request, const std::stop_token& stop) {
  KEPLER_CHECK_OK(client::CheckRequest(peer, request));
  for (const auto& [name, text] : request.headers) KEPLER_CHECK_OK(CheckHeader(name, text));
  KEPLER_CHECK_OK(Use(std::move(peer)));
  bool can_restart = false;
  auto reply = CallOnce(request, stop, can_restart);
  if (!reply && can_restart && !stop.stop_requested()) return CallOnce(request, stop, can_restart);
  return reply;
}

Result<Reply> Channel::CallOnce(const ClientRequest& request, const std::stop_token& stop, bool& can_restart) {
  const auto end = std::chrono::steady_clock::now() + TimeoutOf(request);
  // It is given back only if it can carry another call.
  std::unique_ptr<Connection> connection = std::move(known_->connection);
  const bool is_kept = connection != nullptr;
  if (!is_kept)
    connection = std::make_unique<Connection>(known_->peer, known_->context, options_.max_answer + kPrefixBytes);
  if (is_kept) connection->wire.Restart();
  const std::stop_callback end_it(stop, [&wire = connection->wire] { wire.Interrupt(); });
  if (!is_kept) KEPLER_CHECK_OK(connection->wire.Open(request.deadlines.silence, end, known_->session));
  const auto& message = std::get<client::SharedText>(request.body);
  const auto prefix = PrefixOf(static_cast<uint32_t>(message->size()), options_.gzip);
  const std::string call = fmt::format("call {}{}", known_->peer.Url(), request.target);
  KEPLER_CHECK_OK(connection->session.Begin(HeadersOf(known_->peer, request, options_.gzip), prefix, message));
  const auto answer = connection->Exchange(end, call);
  if (!answer) {
    can_restart = is_kept && answer.error().kind == ErrorKind::kUnavailable && !connection->session.has_begun();
    return std::unexpected(answer.error());
  }
  if (auto session = connection->wire.Session()) known_->session = std::move(session);
  if (connection->session.CanContinue()) known_->connection = std::move(connection);
  return MakeReply(*answer, options_.max_answer, call);
}

}  // namespace kepler::http::grpc
