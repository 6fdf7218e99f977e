#include "http/server/test_client.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/parse.h"
#include "base/text.h"
#include "base/unique_fd.h"

namespace kepler::http::server::testing {
namespace {

constexpr int kPatienceMs = 10'000;

using UniqueBio = std::unique_ptr<BIO, Freer<BIO_free_all>>;

void UseCertificate(SSL* ssl, const std::string& cert, const std::string& key) {
  const UniqueBio cert_bio(BIO_new_mem_buf(cert.data(), static_cast<int>(cert.size())));
  const UniqueBio key_bio(BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  const std::unique_ptr<X509, Freer<X509_free>> x509(PEM_read_bio_X509(cert_bio.get(), nullptr, nullptr, nullptr));
  const std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>> pkey(
      PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr));
  SSL_use_certificate(ssl, x509.get());
  SSL_use_PrivateKey(ssl, pkey.get());
}

}  // namespace

void TestClient::FreeSsl::operator()(SSL* ssl) const { SSL_free(ssl); }

TestClient::TestClient(const std::string& address, int receive_buffer, const char* source) {
  const auto colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &list) != 0) std::abort();
  fd_.Reset(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_buffer > 0) ::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  if (source != nullptr && fd_.valid()) {
    sockaddr_in from{};
    from.sin_family = AF_INET;
    ::inet_pton(AF_INET, source, &from.sin_addr);
    if (::bind(fd(), reinterpret_cast<sockaddr*>(&from), sizeof from) != 0) std::abort();
  }
  const timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int result = fd_.valid() ? ::connect(fd(), list->ai_addr, list->ai_addrlen) : -1;
  ::freeaddrinfo(list);
  if (result != 0) fd_.Reset();
}

TestClient::~TestClient() = default;
TestClient::TestClient(TestClient&&) noexcept = default;
TestClient& TestClient::operator=(TestClient&&) noexcept = default;

bool TestClient::StartTls(const TlsClientOptions& options) {
  const std::unique_ptr<SSL_CTX, Freer<SSL_CTX_free>> context(SSL_CTX_new(TLS_client_method()));
  if (options.max_version != 0) SSL_CTX_set_max_proto_version(context.get(), options.max_version);
  ssl_.reset(SSL_new(context.get()));
  if (!options.cert.empty()) UseCertificate(ssl_.get(), options.cert, options.key);
  if (!options.alpn.empty()) {
    SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(options.alpn.data()),
                        static_cast<unsigned>(options.alpn.size()));
  }
  SSL_set_fd(ssl_.get(), fd());
  return SSL_connect(ssl_.get()) == 1;
}

void TestClient::Send(std::string_view bytes) {
  if (ssl_) {
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    return;
  }
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // the server may have hung up: the reply tells
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void TestClient::SendGet(std::string_view path, std::string_view extra_lines) {
  std::string text = "GET ";
  text.append(path).append(" HTTP/1.1\r\nHost: test\r\n").append(extra_lines).append("\r\n");
  Send(text);
}

Reply TestClient::Get(std::string_view path, std::string_view extra_lines) {
  SendGet(path, extra_lines);
  return Read();
}

bool TestClient::Fill() {
  char chunk[65536];
  const ssize_t n = ssl_ ? SSL_read(ssl_.get(), chunk, sizeof chunk) : ::recv(fd(), chunk, sizeof chunk, 0);
  was_reset_ = n < 0 && errno == ECONNRESET;
  if (n <= 0) return false;
  buffer_.append(chunk, static_cast<size_t>(n));
  return true;
}

bool TestClient::FillTo(size_t bytes) {
  while (buffer_.size() < bytes)
    if (!Fill()) return false;
  return true;
}

std::string TestClient::Take(size_t bytes) {
  auto taken = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return taken;
}

void TestClient::ReadChunks(Reply& reply) {
  reply.cut = true;
  while (true) {
    while (!buffer_.contains("\r\n"))
      if (!Fill()) return;
    const auto line = Take(buffer_.find("\r\n") + 2);
    const auto size = std::strtoul(line.c_str(), nullptr, 16);
    const bool whole = FillTo(size + 2);
    reply.body += Take(size);
    if (!whole || Take(2) != "\r\n") return;
    if (size > 0) continue;
    reply.cut = false;
    return;
  }
}

Reply TestClient::Read(bool head_only) {
  Reply reply;
  while (!buffer_.contains("\r\n\r\n"))
    if (!Fill()) return reply;
  const auto end = buffer_.find("\r\n\r\n") + 4;
  reply.raw_head = buffer_.substr(0, end);
  buffer_.erase(0, end);
  Splitter lines(reply.raw_head, '\n');
  const auto first = lines.Next().value_or("");
  reply.status = ParseNumber<unsigned>(first.substr(std::min<size_t>(first.size(), 9), 3)).value_or(0);
  while (const auto line = lines.Next()) {
    const auto colon = line->find(':');
    if (colon == std::string_view::npos) continue;
    reply.headers[ToLowerAscii(line->substr(0, colon))] = Trim(line->substr(colon + 1));
  }
  const auto length = ParseNumber<size_t>(reply.headers["content-length"]).value_or(0);
  if (head_only) return reply;
  if (reply.headers["transfer-encoding"] == "chunked") {
    ReadChunks(reply);
    return reply;
  }
  if (!FillTo(length)) return Reply{};
  reply.body = Take(length);
  return reply;
}

bool TestClient::Readable(std::chrono::milliseconds time) const {
  pollfd waited{.fd = fd(), .events = POLLIN, .revents = 0};
  return ::poll(&waited, 1, static_cast<int>(time.count())) == 1;
}

bool TestClient::WaitForEnd() {
  while (Readable(std::chrono::milliseconds(kPatienceMs)))
    if (!Fill()) return true;
  return false;
}

void TestClient::Abort() {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  fd_.Reset();
}

}  // namespace kepler::http::server::testing
