#include "http/client/client.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "http/client/client_tls.h"

namespace kepler::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr size_t kMaxBuffer = 64 * 1024;
constexpr size_t kPiece = 16 * 1024;
constexpr size_t kMaxInterim = 16;       // servers send one or two: 100 Continue, 103 Early Hints
constexpr size_t kMaxLogin = 32 * 1024;  // a field of a head has 64 KiB at most, and Base64 makes four bytes of three

/// Of an answer that another one follows (RFC 9110, 15.2). 101 is final: the connection has another protocol then.
bool IsInterim(unsigned status) { return status / 100 == 1 && status != 101; }

Error Describe(const Peer& peer, std::string_view step, const error_code& error) {
  ErrorKind kind = ErrorKind::kUnavailable;
  if (error == beast::error::timeout) kind = ErrorKind::kTimeout;
  if (error.category() == beast::http::make_error_code(beast::http::error::bad_version).category() &&
      error != beast::http::error::end_of_stream && error != beast::http::error::partial_message)
    kind = ErrorKind::kMalformed;
  const std::string why = kind == ErrorKind::kTimeout ? "no answer in time" : error.message();
  return {kind, fmt::format("{} {}: {}", step, peer.Url(), why)};
}

std::string Base64(std::string_view text) {
  std::string out((text.size() + 2) / 3 * 4 + 1, '\0');  // with the zero that the library adds
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(text.data()),
                  static_cast<int>(text.size()));
  out.pop_back();
  return out;
}

/// A watch may have nothing to say for minutes: whether the other side is still there, TCP asks, and believes it gone
/// after half a minute without an answer.
void KeepAlive(tcp::socket& socket) {
  const auto set = [&socket](int level, int name, int value) {
    static_cast<void>(::setsockopt(socket.native_handle(), level, name, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

/// One exchange. Its loop runs on the thread that calls Run().
class Exchange {
 public:
  Exchange(const Peer& peer, const GetRequest& request, const OnPiece& take)
      : peer_(peer),
        request_(request),
        take_(take),
        end_(request.total.count() > 0 ? std::chrono::steady_clock::now() + request.total : SteadyTime::max()) {}

  Result<Refusal> Run(const std::stop_token& stop) {
    KEPLER_CHECK_OK(CheckLogin(peer_, request_));
    if (peer_.tls) {
      KEPLER_TRY(context_, MakeTlsContext(peer_));
    }
    const std::stop_callback end_it(stop, [this] { loop_.stop(); });
    asio::co_spawn(loop_, Connect(), asio::detached);
    loop_.run();
    if (!result_) return Fail(ErrorKind::kUnavailable, "fetch from " + peer_.Url() + ": stopped");
    return *std::move(result_);
  }

 private:
  void Finish(Result<Refusal> result) { result_ = std::move(result); }
  void Finish(std::string_view step, const error_code& error) {
    result_ = std::unexpected(Describe(peer_, step, error));
  }
  /// The next step may take so long.
  void SetDeadline(beast::tcp_stream& socket) const { SetDeadline(socket, request_.silence); }
  void SetDeadline(beast::tcp_stream& socket, std::chrono::milliseconds silence) const {
    socket.expires_at(std::min(std::chrono::steady_clock::now() + silence, end_));
  }

  /// To the first of the addresses that answers.
  asio::awaitable<error_code> ConnectAny(beast::tcp_stream& socket, tcp::resolver::results_type addresses) const {
    error_code refused = asio::error::host_not_found;
    for (const auto& address : addresses) {
      SetDeadline(socket);
      std::tie(refused) = co_await socket.async_connect(address.endpoint(), kAwait);
      if (!refused) break;
      socket.close();
    }
    if (!refused) KeepAlive(socket.socket());
    co_return refused;
  }

  asio::awaitable<void> Connect() {
    tcp::resolver resolver(loop_);
    // On this thread, which has nothing else to do: asynchronously it would be another one of each exchange, and for
    // that a stop waits all the same.
    error_code unknown;
    const auto found = resolver.resolve(peer_.host, std::to_string(peer_.port), unknown);
    if (unknown) co_return Finish("resolve", unknown);
    if (!peer_.tls) {
      beast::tcp_stream socket(loop_);
      if (const error_code refused = co_await ConnectAny(socket, found)) co_return Finish("connect to", refused);
      co_return co_await Ask(socket, socket);
    }
    TlsStream stream(loop_, *context_);
    beast::tcp_stream& socket = beast::get_lowest_layer(stream);
    if (const error_code refused = co_await ConnectAny(socket, found)) co_return Finish("connect to", refused);
    if (std::string name = peer_.CertificateName(); !IsAddress(name))
      SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    SetDeadline(socket);
    auto [failed] = co_await stream.async_handshake(asio::ssl::stream_base::client, kAwait);
    if (failed) co_return FinishHandshake(stream, failed);
    co_await Ask(stream, socket);
  }

  void FinishHandshake(TlsStream& stream, const error_code& error) {
    const long verified = SSL_get_verify_result(stream.native_handle());
    if (error == beast::error::timeout || !peer_.verify || verified == X509_V_OK)
      return Finish("begin TLS with", error);
    Finish(Fail(ErrorKind::kPermission, fmt::format("the certificate of {} is not trusted: {}", peer_.Url(),
                                                    X509_verify_cert_error_string(verified))));
  }

  template <class Stream>
  asio::awaitable<void> Ask(Stream& stream, beast::tcp_stream& socket) {
    namespace http = beast::http;
    http::request<http::empty_body> ask(http::verb::get, request_.target, 11);
    ask.set(http::field::host, peer_.Authority());
    ask.set(http::field::user_agent, "kepler");
    ask.set(http::field::accept, request_.accept);
    ask.set(http::field::connection, "close");
    if (!request_.bearer_token.empty()) ask.set(http::field::authorization, "Bearer " + request_.bearer_token);
    if (!request_.user.empty())
      ask.set(http::field::authorization, "Basic " + Base64(request_.user + ":" + request_.password));
    SetDeadline(socket);
    auto [unsent, sent] = co_await http::async_write(stream, ask, kAwait);
    if (unsent) co_return Finish("ask", unsent);
    beast::flat_buffer buffer(kMaxBuffer);
    std::optional<http::response_parser<http::buffer_body>> head;
    SetDeadline(socket);  // one deadline for all heads, so that interim answers cannot extend it
    for (size_t heads = 0; !head || IsInterim(head->get().result_int()); ++heads) {
      if (heads > kMaxInterim)
        co_return Finish(Fail(ErrorKind::kMalformed,
                              fmt::format("{} sent more than {} interim responses (1xx)", peer_.Url(), kMaxInterim)));
      head.emplace();
      head->body_limit(boost::none);
      auto [headless, size] = co_await http::async_read_header(stream, buffer, *head, kAwait);
      if (headless) co_return Finish("read the answer of", headless);
    }
    auto& parser = *head;
    Refusal refusal{.status = parser.get().result_int(),
                    .body = {},
                    .retry_after = std::string(parser.get()[http::field::retry_after]).substr(0, kMaxRefusal),
                    .location = std::string(parser.get()[http::field::location]).substr(0, kMaxRefusal)};
    if (refusal.status == 200)
      if (Status taken = take_({}); !taken) co_return Finish(std::unexpected(std::move(taken).error()));
    const auto body_silence = request_.body_silence.count() > 0 ? request_.body_silence : request_.silence;
    std::array<char, kPiece> piece;
    for (uint64_t received = 0; !parser.is_done();) {
      parser.get().body() = {piece.data(), piece.size(), true};
      // What is there already is read without a wait, and no timer ends that.
      if (std::chrono::steady_clock::now() >= end_) co_return Finish("read the answer of", beast::error::timeout);
      SetDeadline(socket, body_silence);
      auto [cut, some] = co_await http::async_read_some(stream, buffer, parser, kAwait);
      if (cut && cut != http::error::need_buffer) co_return Finish("read the answer of", cut);
      const std::string_view text(piece.data(), piece.size() - parser.get().body().size);
      received += text.size();
      if (received > request_.max_bytes)
        co_return Finish(Fail(ErrorKind::kInvalid,
                              fmt::format("the answer of {}{} has more than {} bytes", peer_.Url(),
                                          request_.target.substr(0, request_.target.find('?')), request_.max_bytes)));
      if (refusal.status != 200) {
        refusal.body += text.substr(0, kMaxRefusal - refusal.body.size());
        if (refusal.body.size() == kMaxRefusal) break;
      } else if (!text.empty()) {
        if (Status taken = take_(text); !taken) co_return Finish(std::unexpected(std::move(taken).error()));
      }
    }
    Finish(std::move(refusal));
  }

  const Peer& peer_;
  const GetRequest& request_;
  const OnPiece& take_;
  const SteadyTime end_;
  std::shared_ptr<TlsContext> context_;  // null: no TLS
  std::optional<Result<Refusal>> result_;
  asio::io_context loop_{1};  // keep last: what waits in it uses everything above
};

}  // namespace

Status CheckLogin(const Peer& peer, const GetRequest& request) {
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
  if (!peer.tls && (has_token || has_user))
    return Fail(ErrorKind::kInvalid, fmt::format("{} would receive the {} in plain text; use https", peer.Url(),
                                                 has_token ? "token" : "password"));
  return {};
}

Result<Refusal> Fetch(const Peer& peer, const GetRequest& request, const OnPiece& take, const std::stop_token& stop) {
  return Exchange(peer, request, take).Run(stop);
}

}  // namespace kepler::http
