#include "http/server/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace kepler::http {
namespace {

bool WouldBlock(int err) { return err == EAGAIN || err == EWOULDBLOCK || err == EINTR; }

// sendmsg() takes them as mutable, and does not write.
iovec Vector(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

int Clamp(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

}  // namespace

void Stream::FreeSsl::operator()(SSL* ssl) const { SSL_free(ssl); }

Stream::Stream(int fd, SSL_CTX* tls) : fd_(fd), tls_(tls) {}

void Stream::MakeSsl() {
  ssl_.reset(SSL_new(tls_));
  broken_ = !ssl_ || SSL_set_fd(ssl_.get(), fd_) != 1;
  if (ssl_) SSL_set_accept_state(ssl_.get());
}

IoState Stream::Explain(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return IoState::kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return IoState::kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return IoState::kEnd;
    default:
      broken_ = true;
      return IoState::kFailed;
  }
}

IoState Stream::Handshake() {
  if (!ssl_ && !broken_) MakeSsl();
  if (broken_) return IoState::kFailed;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  return result == 1 ? IoState::kDone : Explain(result);
}

IoResult Stream::Read(std::span<char> into) {
  if (broken_) return {};
  if (tls()) {
    ERR_clear_error();
    const int n = SSL_read(ssl_.get(), into.data(), Clamp(into.size()));
    if (n > 0) return {IoState::kDone, static_cast<size_t>(n)};
    return {Explain(n), 0};
  }
  const ssize_t n = ::recv(fd_, into.data(), into.size(), 0);
  if (n > 0) return {IoState::kDone, static_cast<size_t>(n)};
  if (n == 0) return {IoState::kEnd, 0};
  return {WouldBlock(errno) ? IoState::kWantRead : IoState::kFailed, 0};
}

IoResult Stream::Write(std::string_view first, std::string_view second) {
  if (broken_) return {};
  if (tls()) return WriteTls(first, second);
  std::array<iovec, 2> parts = {Vector(first), Vector(second)};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t n = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
  if (n >= 0) return {IoState::kDone, static_cast<size_t>(n)};
  return {WouldBlock(errno) ? IoState::kWantWrite : IoState::kFailed, 0};
}

IoResult Stream::WriteTls(std::string_view first, std::string_view second) {
  std::array<char, SSL3_RT_MAX_PLAIN_LENGTH> record;
  std::string_view chunk = first.empty() ? second : first;
  if (!first.empty() && !second.empty() && first.size() < record.size()) {
    // The head would be a record and a packet of its own. After kWantWrite the same call comes again, and OpenSSL
    // takes the same bytes from wherever they then lie.
    const auto more = second.substr(0, record.size() - first.size());
    std::memcpy(record.data(), first.data(), first.size());
    std::memcpy(record.data() + first.size(), more.data(), more.size());
    chunk = {record.data(), first.size() + more.size()};
  }
  ERR_clear_error();
  const int n = SSL_write(ssl_.get(), chunk.data(), Clamp(chunk.size()));
  if (n > 0) return {IoState::kDone, static_cast<size_t>(n)};
  return {Explain(n), 0};
}

void Stream::CloseWriting() {
  if (ssl_ && !broken_ && SSL_is_init_finished(ssl_.get()) == 1) {
    ERR_clear_error();
    static_cast<void>(SSL_shutdown(ssl_.get()));
  }
  ::shutdown(fd_, SHUT_WR);
}

}  // namespace kepler::http
