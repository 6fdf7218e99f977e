#include "http/client/outgoing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/base64.h"
#include "base/text.h"

namespace kepler::http::client {
namespace {

constexpr size_t kMaxLogin = 32 * 1024;

std::string_view NameOf(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "";
}

bool IsIdempotent(Method method) { return method != Method::kPost && method != Method::kPatch; }

/// The header that gives the length of the body; "" without a body, where the method does not expect one.
std::string LengthOf(const ClientRequest& request) {
  constexpr std::string_view kLength = "Content-Length: {}\r\n";
  if (const auto* const stream = std::get_if<StreamedBody>(&request.body))
    return stream->length ? fmt::format(kLength, *stream->length) : "Transfer-Encoding: chunked\r\n";
  const auto& text = std::get<SharedText>(request.body);
  if (text) return fmt::format(kLength, text->size());
  const bool expects_body =
      request.method == Method::kPost || request.method == Method::kPut || request.method == Method::kPatch;
  return expects_body ? fmt::format(kLength, 0) : "";
}

std::string LoginOf(const ClientRequest& request) { return EncodeBase64(request.user + ":" + request.password); }

void Replace(std::string& text, std::string_view secret, std::string_view shown) {
  if (secret.empty()) return;
  for (size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + shown.size()))
    text.replace(at, secret.size(), shown);
}

std::string HeadOf(const Peer& peer, const ClientRequest& request) {
  std::string head = fmt::format("{} {} HTTP/1.1\r\n", NameOf(request.method), request.target);
  const auto add = [&head](std::string_view name, std::string_view value) {
    if (!value.empty()) fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  };
  add("Host", peer.Authority());
  add("User-Agent", "kepler");
  add("Accept", request.accept);
  if (!request.bearer_token.empty()) add("Authorization", "Bearer " + request.bearer_token);
  if (!request.user.empty()) add("Authorization", "Basic " + LoginOf(request));
  add("Content-Type", request.content_type);
  for (const auto& [name, value] : request.headers) add(name, value);
  return head + LengthOf(request) + "\r\n";
}

Status CheckLogin(const Peer& peer, const ClientRequest& request) {
  const bool has_token = !request.bearer_token.empty();
  const bool has_user = !request.user.empty();
  if (!std::ranges::all_of(request.bearer_token, [](char c) { return c > ' ' && c < '\x7f'; }))
    return Fail(ErrorKind::kInvalid,
                fmt::format("the token for {} contains a blank, a line end or another invalid character", peer.Url()));
  if (std::max(request.bearer_token.size(), request.user.size() + request.password.size()) > kMaxLogin)
    return Fail(ErrorKind::kInvalid, fmt::format("the {} for {} is larger than {} KiB",
                                                 has_token ? "token" : "password", peer.Url(), kMaxLogin >> 10));
  if (has_token && has_user)
    return Fail(ErrorKind::kInvalid,
                fmt::format("both a token and a password are set for {}; set one of them", peer.Url()));
  if (request.user.contains(':'))  // the server would read the rest as the password
    return Fail(ErrorKind::kInvalid, fmt::format("the user name for {} contains a colon", peer.Url()));
  if (!peer.tls && !request.allow_plain_login && (has_token || has_user))
    return Fail(ErrorKind::kInvalid, fmt::format("{} would receive the {} in plain text; use https", peer.Url(),
                                                 has_token ? "token" : "password"));
  return {};
}

/// Returns true if the text can be a header value (RFC 9110, 5.5).
bool IsText(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c == '\t' || (c >= ' ' && c != '\x7f') || c < '\0'; });
}
/// Returns true if the text can be a target: it is not empty and has only visible ASCII characters.
bool IsVisible(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}
/// Returns true if the text is a token, such as the name of a header (RFC 9110, 5.6.2).
bool IsToken(std::string_view text) {
  constexpr std::string_view kDelimiters = "\"(),/:;<=>?@[\\]{}";
  return IsVisible(text) && text.find_first_of(kDelimiters) == std::string_view::npos;
}

/// Headers that the client writes itself: a second one would contradict it.
bool IsReserved(std::string_view name) {
  constexpr auto kReserved = std::to_array<std::string_view>({"accept", "authorization", "connection", "content-length",
                                                              "content-type", "expect", "host", "transfer-encoding"});
  return std::ranges::find(kReserved, ToLowerAscii(name)) != kReserved.end();
}

}  // namespace

bool IsRepeatable(const ClientRequest& request) {
  return (IsIdempotent(request.method) || request.may_repeat) && std::holds_alternative<SharedText>(request.body);
}

Status CheckHeader(std::string_view name, std::string_view value) {
  if (IsReserved(name)) return Fail(ErrorKind::kInvalid, fmt::format("the client writes the header {} itself", name));
  if (!IsToken(name)) return Fail(ErrorKind::kInvalid, "the name of a header contains an invalid character");
  if (!IsText(value)) return Fail(ErrorKind::kInvalid, "the value of a header contains an invalid character");
  return {};
}

Status CheckRequest(const Peer& peer, const ClientRequest& request) {
  KEPLER_CHECK_OK(CheckLogin(peer, request));
  for (const auto& [name, value] : request.headers) KEPLER_CHECK_OK(CheckHeader(name, value));
  if (IsVisible(request.target) && IsText(request.accept) && IsText(request.content_type)) return {};
  return Fail(ErrorKind::kInvalid,
              fmt::format("the target or a header of the request to {} contains an invalid character", peer.Url()));
}

std::string HideLogin(std::string_view text, const ClientRequest& request) {
  std::string shown(text);
  Replace(shown, request.bearer_token, "<token>");
  if (request.user.empty()) return shown;
  Replace(shown, LoginOf(request), "<password>");
  Replace(shown, request.password, "<password>");
  return shown;
}

Outgoing::Outgoing(const Peer& peer, const ClientRequest& request) : request_(request), head_(HeadOf(peer, request)) {}

Result<std::string_view> Outgoing::Next() {
  if (!std::exchange(has_begun_, true)) return head_;
  if (has_ended_) return "";
  if (const auto* const stream = std::get_if<StreamedBody>(&request_.body)) return NextOf(*stream);
  has_ended_ = true;
  const auto& text = std::get<SharedText>(request_.body);
  return text ? std::string_view(*text) : "";
}

Result<std::string_view> Outgoing::NextOf(const StreamedBody& body) {
  has_streamed_ = true;
  KEPLER_TRY(const std::string_view piece, body.next());
  streamed_ += piece.size();
  has_ended_ = piece.empty();
  if (!body.length) {
    chunk_ = fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);  // the chunk of no bytes is the last one
    return chunk_;
  }
  if (streamed_ > *body.length || (has_ended_ && streamed_ < *body.length))
    return Fail(ErrorKind::kInvalid, fmt::format("the body of {} {} has {} bytes or more instead of {}",
                                                 NameOf(request_.method), request_.target, streamed_, *body.length));
  return piece;
}

}  // namespace kepler::http::client
