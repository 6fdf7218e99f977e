#include "http/server/event_loop.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace kepler::http::server {

namespace asio = boost::asio;
namespace {

using asio::ip::tcp;
using boost::system::error_code;

int Clamp(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

IoResult ResultOf(const error_code& error, size_t bytes, IoState otherwise) {
  if (!error) return {IoState::kDone, bytes};
  if (error == asio::error::would_block) return {otherwise, 0};
  return {error == asio::error::eof ? IoState::kEnd : IoState::kFailed, 0};
}

}  // namespace

EventLoop::EventLoop() : context_(std::make_unique<asio::io_context>(1)) {}
EventLoop::~EventLoop() = default;
void EventLoop::Run() {
  auto work = asio::make_work_guard(*context_);  // without it, the loop would end when no task is left
  context_->run();
  work.reset();
  context_->restart();
}
void EventLoop::Stop() { context_->stop(); }
void EventLoop::Post(Task task) {
  asio::post(*context_, [t = std::move(task)]() mutable { t(); });
}

struct Timer::Impl {
  explicit Impl(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  // Asio may already have queued an expiry when it is cancelled; its number tells it apart.
  uint64_t generation = 0;
};

Timer::Timer(EventLoop& loop) : impl_(std::make_shared<Impl>(loop.context())) {}
Timer::~Timer() { Cancel(); }

void Timer::Start(std::chrono::nanoseconds delay, Task task) {
  const uint64_t mine = ++impl_->generation;
  impl_->timer.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(delay));
  impl_->timer.async_wait([impl = impl_, mine, t = std::move(task)](const boost::system::error_code& error) mutable {
    if (!error && impl->generation == mine) t();
  });
}

void Timer::Cancel() {
  ++impl_->generation;
  impl_->timer.cancel();
}

struct Socket::Impl {
  explicit Impl(asio::io_context& context) : socket(context) {}

  void When(tcp::socket::wait_type what, Task task) {
    socket.async_wait(what, [t = std::move(task)](const error_code& error) mutable {
      if (error != asio::error::operation_aborted) t();
    });
  }

  IoResult Explain(int result) {
    if (result > 0) return {IoState::kDone, static_cast<size_t>(result)};
    switch (SSL_get_error(ssl.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return {IoState::kWantRead, 0};
      case SSL_ERROR_WANT_WRITE:
        return {IoState::kWantWrite, 0};
      case SSL_ERROR_ZERO_RETURN:
        return {IoState::kEnd, 0};
      default:
        broken = true;
        return {};
    }
  }

  tcp::socket socket;
  std::unique_ptr<SSL, Freer<SSL_free>> ssl;
  bool broken = false;  // OpenSSL forbids further calls after a fatal error
};

Socket::Socket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Socket::Socket(Socket&&) noexcept = default;
Socket& Socket::operator=(Socket&&) noexcept = default;
Socket::~Socket() = default;

Result<Socket> Socket::Create(EventLoop& loop, UniqueFd fd) {
  auto impl = std::make_unique<Impl>(loop.context());
  error_code error;
  static_cast<void>(impl->socket.assign(tcp::v6(), fd.get(), error));
  if (error) return FailErrno("watch", "a socket", error.value());
  static_cast<void>(fd.Release());  // the socket owns it now
  static_cast<void>(impl->socket.non_blocking(true, error));
  return Socket(std::move(impl));
}

int Socket::fd() const { return impl_->socket.native_handle(); }
void Socket::WhenReadable(Task task) { impl_->When(tcp::socket::wait_read, std::move(task)); }
void Socket::WhenWritable(Task task) { impl_->When(tcp::socket::wait_write, std::move(task)); }
void Socket::WhenReset(Task task) { impl_->When(tcp::socket::wait_error, std::move(task)); }
void Socket::Close() {
  error_code ignored;
  static_cast<void>(impl_->socket.close(ignored));
}
void Socket::ResetOnClose() {
  error_code ignored;
  static_cast<void>(impl_->socket.set_option(tcp::socket::linger(true, 0), ignored));
}

IoState Socket::Handshake(SSL_CTX* tls) {
  if (!impl_->ssl && !impl_->broken) {
    impl_->ssl.reset(SSL_new(tls));
    // OpenSSL reads and writes the socket itself: buffers of Asio's own would cost every idle client 35 kB.
    impl_->broken = !impl_->ssl || SSL_set_fd(impl_->ssl.get(), fd()) != 1;
    if (impl_->ssl) SSL_set_accept_state(impl_->ssl.get());
  }
  if (impl_->broken) return IoState::kFailed;
  ERR_clear_error();
  return impl_->Explain(SSL_do_handshake(impl_->ssl.get())).state;
}

std::string Socket::CertificateSubject() const {
  // If any certificate is accepted, the verification error of an untrusted one is still set here.
  if (!impl_->ssl || SSL_get_verify_result(impl_->ssl.get()) != X509_V_OK) return "";
  const X509* certificate = SSL_get0_peer_certificate(impl_->ssl.get());
  if (certificate == nullptr) return "";
  const std::unique_ptr<BIO, Freer<BIO_free_all>> text(BIO_new(BIO_s_mem()));
  if (!text) return "";
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  const char* bytes = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

IoResult Socket::Read(std::span<char> into) {
  if (impl_->broken) return {};
  if (!impl_->ssl) return ReadBare(into);
  ERR_clear_error();
  return impl_->Explain(SSL_read(impl_->ssl.get(), into.data(), Clamp(into.size())));
}

IoResult Socket::ReadBare(std::span<char> into) {
  error_code error;
  const size_t bytes = impl_->socket.receive(asio::buffer(into.data(), into.size()), 0, error);
  return ResultOf(error, bytes, IoState::kWantRead);
}

std::optional<char> Socket::Peek() {
  char first = 0;
  error_code error;
  impl_->socket.receive(asio::buffer(&first, 1), tcp::socket::message_peek, error);
  return error ? std::nullopt : std::optional(first);
}

IoResult Socket::Write(std::span<const std::string_view> parts) {
  if (impl_->broken) return {};
  if (!impl_->ssl) {
    std::array<asio::const_buffer, 3> buffers;
    std::ranges::transform(parts, buffers.begin(), [](auto part) { return asio::buffer(part); });
    error_code error;
    const size_t bytes = impl_->socket.send(buffers, 0, error);
    return ResultOf(error, bytes, IoState::kWantWrite);
  }
  // Each part would be a record and a packet of its own. After kWantWrite the same call comes again, and OpenSSL takes
  // the same bytes from wherever they then lie.
  std::array<char, SSL3_RT_MAX_PLAIN_LENGTH> record;
  std::string_view chunk;
  for (const std::string_view part : parts) {
    if (chunk.empty() || part.empty()) {
      chunk = chunk.empty() ? part : chunk;
      continue;
    }
    if (chunk.size() >= record.size()) break;
    if (chunk.data() != record.data()) std::ranges::copy(chunk, record.begin());
    const auto more = part.substr(0, record.size() - chunk.size());
    std::ranges::copy(more, record.begin() + static_cast<std::ptrdiff_t>(chunk.size()));
    chunk = {record.data(), chunk.size() + more.size()};
  }
  ERR_clear_error();
  return impl_->Explain(SSL_write(impl_->ssl.get(), chunk.data(), Clamp(chunk.size())));
}

void Socket::CloseWriting() {
  if (impl_->ssl && !impl_->broken && SSL_is_init_finished(impl_->ssl.get()) == 1) {
    ERR_clear_error();
    static_cast<void>(SSL_shutdown(impl_->ssl.get()));
  }
  error_code ignored;
  static_cast<void>(impl_->socket.shutdown(tcp::socket::shutdown_send, ignored));
}

}  // namespace kepler::http::server
