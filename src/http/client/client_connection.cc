#include "http/client/client_connection.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kepler::http::client {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kPiece = 16 * 1024;

/// A watch may send nothing for minutes, so TCP checks that the server is still there: it is gone after half a minute
/// without an answer. The request goes out at once, without waiting for more bytes.
void SetOptions(tcp::socket& socket) {
  const auto set = [&socket](int level, int name, int value) {
    static_cast<void>(::setsockopt(socket.native_handle(), level, name, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

}  // namespace

/// An operation that is waited for.
struct ClientConnection::Operation {
  bool pending = false;
  bool done = false;
  error_code error{};
  size_t bytes = 0;

  /// The handler that ends it.
  auto Begin() {
    pending = true;
    done = false;
    return [this](const error_code& how, size_t count = 0) {
      pending = false;
      done = true;
      error = how;
      bytes = count;
    };
  }
  /// Whether it has ended since the last call.
  bool TakeDone() { return std::exchange(done, false); }
};

struct ClientConnection::Impl {
  enum class End : uint8_t { kDone, kTimeout, kStopped };

  Impl(Peer whom, std::shared_ptr<TlsContext> how) : peer(std::move(whom)), context(std::move(how)) {}

  /// Until one of the two is done.
  End Run(Time deadline, const Operation& one, const Operation& other) {
    timer.expires_at(deadline);
    timer.async_wait([](const error_code&) {});  // wakes run_one()
    while (!one.done && !other.done) {
      if (std::chrono::steady_clock::now() >= deadline) return End::kTimeout;
      if (loop.run_one() == 0) return End::kStopped;
    }
    return End::kDone;
  }

  std::unexpected<Error> Describe(std::string_view step, End end, const error_code& error = {},
                                  bool has_head = false) const {
    if (end == End::kStopped) return Fail(ErrorKind::kUnavailable, fmt::format("{} {}: stopped", step, peer.Url()));
    if (end == End::kTimeout)
      return Fail(ErrorKind::kTimeout,
                  fmt::format("{} {}: {}", step, peer.Url(),
                              has_head ? "the answer was not complete in time" : "no answer in time"));
    const bool is_cut = error == asio::ssl::error::stream_truncated;
    return Fail(ErrorKind::kUnavailable, fmt::format("{} {}: {}", step, peer.Url(),
                                                     is_cut ? "the connection ended too early" : error.message()));
  }

  Status Connect(std::chrono::milliseconds silence, Time end);
  Status BeginTls(Time deadline, const TlsSession& session);
  Status CheckProtocol();

  template <class Stream>
  void Start(Stream& stream, std::string_view unsent) {
    if (!read.pending && !read.done) stream.async_read_some(asio::buffer(input), read.Begin());
    if (!unsent.empty() && !write.pending && !write.done)
      stream.async_write_some(asio::buffer(unsent.data(), unsent.size()), write.Begin());
  }

  const Peer peer;
  const std::shared_ptr<TlsContext> context;
  asio::io_context loop{1};
  // Without it the loop stops itself when a timed-out connect has ended, and the next address is never tried.
  const asio::executor_work_guard<asio::io_context::executor_type> work{loop.get_executor()};
  asio::steady_timer timer{loop};
  tcp::socket socket{loop};
  std::optional<asio::ssl::stream<tcp::socket&>> tls;
  Operation opening, read, write;
  std::array<char, kPiece> input;
};

ClientConnection::ClientConnection(Peer peer, std::shared_ptr<TlsContext> context)
    : impl_(std::make_unique<Impl>(std::move(peer), std::move(context))) {}

ClientConnection::~ClientConnection() = default;

Status ClientConnection::Open(std::chrono::milliseconds silence, Time end, const TlsSession& session) {
  KEPLER_CHECK_OK(impl_->Connect(silence, end));
  if (!impl_->context) return {};
  return impl_->BeginTls(std::min(std::chrono::steady_clock::now() + silence, end), session);
}

Status ClientConnection::Impl::Connect(std::chrono::milliseconds silence, Time end) {
  // On this thread: asynchronous look-ups need a thread for each connection, and a stop waits for them all the same.
  error_code unknown;
  tcp::resolver resolver(loop);
  const auto found = resolver.resolve(peer.host, std::to_string(peer.port), unknown);
  if (unknown) return Describe("resolve", End::kDone, unknown);
  Status connected = Describe("connect to", End::kDone, asio::error::host_not_found);
  for (const auto& address : found) {
    socket.async_connect(address.endpoint(), opening.Begin());
    const End how = Run(std::min(std::chrono::steady_clock::now() + silence, end), opening, opening);
    if (how == End::kDone && !opening.error) {
      SetOptions(socket);
      return {};
    }
    connected = Describe("connect to", how, opening.error);
    error_code ignored;
    static_cast<void>(socket.close(ignored));
    while (opening.pending)
      if (loop.run_one() == 0) return connected;
  }
  return connected;
}

Status ClientConnection::Impl::BeginTls(Time deadline, const TlsSession& session) {
  tls.emplace(socket, *context);
  SSL* const ssl = tls->native_handle();
  if (std::string name = peer.CertificateName(); !IsAddress(name))
    SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  if (session) SSL_set_session(ssl, session.get());
  tls->async_handshake(asio::ssl::stream_base::client, opening.Begin());
  const End how = Run(deadline, opening, opening);
  if (how == End::kDone && !opening.error) return CheckProtocol();
  const long verified = SSL_get_verify_result(ssl);
  if (how != End::kDone || !peer.verify || verified == X509_V_OK) return Describe("begin TLS with", how, opening.error);
  return Fail(ErrorKind::kPermission, fmt::format("the certificate of {} is not trusted: {}", peer.Url(),
                                                  X509_verify_cert_error_string(verified)));
}

Status ClientConnection::Impl::CheckProtocol() {
  if (!peer.http2) return {};
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls->native_handle(), &name, &size);
  if (std::string_view(reinterpret_cast<const char*>(name), size) == "h2") return {};
  return Fail(ErrorKind::kUnavailable, fmt::format("{} does not support HTTP/2 (ALPN)", peer.Url()));
}

Result<ClientConnection::Progress> ClientConnection::Wait(std::string_view unsent, Time deadline, bool has_head) {
  Impl& own = *impl_;
  if (own.tls)
    own.Start(*own.tls, unsent);
  else
    own.Start(own.socket, unsent);
  const auto how = own.Run(deadline, own.read, own.write);
  if (how != Impl::End::kDone)
    return own.Describe(unsent.empty() ? "read the answer of" : "send to", how, {}, has_head);
  // The end of a write that the kernel has taken may still wait behind that of the read.
  if (own.write.pending) own.loop.poll();
  Progress progress;
  if (own.write.TakeDone()) {
    progress.is_cut = static_cast<bool>(own.write.error);
    progress.sent = own.write.bytes;
  }
  if (!own.read.TakeDone()) return progress;
  progress.ended = own.read.error == asio::error::eof;
  if (own.read.error && !progress.ended) return own.Describe("read the answer of", how, own.read.error);
  progress.received = {own.input.data(), own.read.bytes};
  return progress;
}

void ClientConnection::Interrupt() { impl_->loop.stop(); }

void ClientConnection::Restart() { impl_->loop.restart(); }

bool ClientConnection::IsQuiet() const {
  char byte = 0;
  if (impl_->read.pending || impl_->write.pending) return false;
  if (impl_->tls) {  // records that came with the answer are not in the socket any more
    SSL* const ssl = impl_->tls->native_handle();
    if (SSL_has_pending(ssl) != 0 || BIO_pending(SSL_get_rbio(ssl)) > 0) return false;
  }
  return ::recv(impl_->socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == -1 && errno == EAGAIN;
}

TlsSession ClientConnection::Session() const {
  if (!impl_->tls) return nullptr;
  const SSL_SESSION* const session = SSL_get0_session(impl_->tls->native_handle());
  if (session == nullptr || SSL_SESSION_is_resumable(session) == 0) return nullptr;
  // A copy, because OpenSSL spoils the session of a connection that ends without a TLS shutdown.
  return {SSL_SESSION_dup(session), SSL_SESSION_free};
}

}  // namespace kepler::http::client
