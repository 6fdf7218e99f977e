#include "testing/scripted_peer.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <filesystem>

#include "base/check.h"

namespace kepler::testing {
namespace {

using UniqueSsl = std::unique_ptr<SSL, Freer<SSL_free>>;
using UniqueBio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using UniqueX509 = std::unique_ptr<X509, Freer<X509_free>>;
using UniqueKey = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

UniqueBio BioOf(const std::string& text) {
  return UniqueBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

X509* CertificateOf(const std::string& pem) { return PEM_read_bio_X509(BioOf(pem).get(), nullptr, nullptr, nullptr); }

std::shared_ptr<SSL_CTX> MakeContext(const PeerCertificate& certificate) {
  if (certificate.cert.empty()) return nullptr;
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  const UniqueX509 own(CertificateOf(certificate.cert));
  const UniqueKey key(PEM_read_bio_PrivateKey(BioOf(certificate.key).get(), nullptr, nullptr, nullptr));
  Check(SSL_CTX_use_certificate(context.get(), own.get()) == 1, "a server of a test starts");
  Check(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1, "a server of a test starts");
  if (certificate.client_ca.empty()) return context;
  const UniqueX509 authority(CertificateOf(certificate.client_ca));
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

/// Chooses the protocol that `wanted`, a std::string, names, whether or not the client offers it.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char*, unsigned,
                   void* wanted) {
  const auto& name = *static_cast<const std::string*>(wanted);
  *chosen = reinterpret_cast<const unsigned char*>(name.data());
  *size = static_cast<unsigned char>(name.size());
  return SSL_TLSEXT_ERR_OK;
}

ssize_t ReadSome(SSL* ssl, int fd, std::array<char, 4096>& bytes) {
  return ssl != nullptr ? SSL_read(ssl, bytes.data(), static_cast<int>(bytes.size()))
                        : ::recv(fd, bytes.data(), bytes.size(), 0);
}

bool WriteAll(SSL* ssl, int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ssl != nullptr ? SSL_write(ssl, bytes.data(), static_cast<int>(bytes.size()))
                                           : ::send(fd, bytes.data(), bytes.size(), 0);
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

using NameOf = int (*)(int fd, sockaddr* address, socklen_t* size);

/// 0 for what is no connection.
uint16_t PortBy(NameOf name_of, int fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const bool known = name_of(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  return known && address.sin_family == AF_INET ? ntohs(address.sin_port) : 0;
}

int Count(int fd, unsigned long what) {
  int bytes = 0;
  return ::ioctl(fd, what, &bytes) == 0 ? bytes : 0;
}

/// Bytes from the server on this port that are on their way, or wait in a socket of this process.
int Unread(uint16_t port) {
  int bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    const uint16_t peer = PortBy(::getpeername, fd);
    if (peer == port) bytes += Count(fd, FIONREAD);
    if (peer != 0 && PortBy(::getsockname, fd) == port) bytes += Count(fd, SIOCOUTQ);
  }
  return bytes;
}

/// Whether a client in this process has a connection that the server on this port has not closed.
bool HasOpen(uint16_t port) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    char byte = 0;
    if (PortBy(::getpeername, fd) == port && ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) return true;
  }
  return false;
}

}  // namespace

bool PeerConnection::ReadMore() {
  std::array<char, 4096> bytes;
  const ssize_t got = ReadSome(ssl_, fd_, bytes);
  if (got > 0) unread_.append(bytes.data(), static_cast<size_t>(got));
  return got > 0;
}

std::optional<std::string> PeerConnection::ReadUntil(std::string_view end) {
  size_t at = 0;
  while ((at = unread_.find(end)) == std::string::npos)
    if (!ReadMore()) return std::nullopt;
  std::string text = unread_.substr(0, at + end.size());
  unread_.erase(0, text.size());
  return text;
}

std::optional<std::string> PeerConnection::ReadHead() {
  auto head = ReadUntil("\r\n\r\n");
  if (head) ++calls_;
  return head;
}

std::string PeerConnection::ReadBytes(size_t count) {
  while (unread_.size() < count && ReadMore()) {
  }
  std::string text = unread_.substr(0, count);
  unread_.erase(0, text.size());
  return text;
}

bool PeerConnection::Send(std::string_view bytes) { return WriteAll(ssl_, fd_, bytes); }

bool PeerConnection::SendTogether(std::string_view first, std::string_view second) {
  const auto cork = [this](int on) { static_cast<void>(::setsockopt(fd_, IPPROTO_TCP, TCP_CORK, &on, sizeof on)); };
  cork(1);
  const bool is_there = Send(first) && Send(second);
  cork(0);
  return is_there;
}

ScriptedPeer::ScriptedPeer(Script script, const PeerCertificate& certificate)
    : ScriptedPeer(
          [script = std::move(script)](PeerConnection& client, const std::stop_token& stop) {
            if (const auto head = client.ReadHead())
              script(*head, [&client](std::string_view bytes) { return client.Send(bytes); }, stop);
          },
          certificate) {}

ScriptedPeer::ScriptedPeer(Conversation conversation, const PeerCertificate& certificate)
    : conversation_(std::move(conversation)), protocol_(certificate.protocol), tls_(MakeContext(certificate)) {
  if (tls_ && !protocol_.empty()) SSL_CTX_set_alpn_select_cb(tls_.get(), ChooseProtocol, &protocol_);
  ::signal(SIGPIPE, SIG_IGN);
  listener_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  Check(listener_.valid(), "a server of a test starts");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  Check(::bind(listener_.get(), generic, size) == 0, "a server of a test starts");
  Check(::listen(listener_.get(), SOMAXCONN) == 0, "a server of a test starts");
  Check(::getsockname(listener_.get(), generic, &size) == 0, "a server of a test starts");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) continue;
      const std::scoped_lock lock(mutex_);
      open_.push_back(client.get());
      clients_.emplace_back([this, fd = client.Release()](const std::stop_token& end) { Serve(UniqueFd(fd), end); });
    }
  });
}

ScriptedPeer::~ScriptedPeer() {
  acceptor_.request_stop();
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    const std::scoped_lock lock(mutex_);
    for (std::jthread& client : clients_) client.request_stop();
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  clients_.clear();  // joins
}

std::string ScriptedPeer::asked_name() const {
  const std::scoped_lock lock(mutex_);
  return asked_name_;
}

void ScriptedPeer::Serve(UniqueFd client, const std::stop_token& stop) {
  UniqueSsl ssl;
  bool ready = true;
  if (tls_) {
    ssl.reset(SSL_new(tls_.get()));
    SSL_set_fd(ssl.get(), client.get());
    ready = SSL_accept(ssl.get()) == 1;
  }
  if (ready) {
    ++connections_;
    if (ssl && SSL_session_reused(ssl.get()) == 1) ++resumed_;
    if (const char* name = ssl ? SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name) : nullptr) {
      const std::scoped_lock lock(mutex_);
      asked_name_ = name;
    }
    PeerConnection connection(client.get(), ssl.get(), calls_);
    conversation_(connection, stop);
  }
  const std::scoped_lock lock(mutex_);
  std::erase(open_, client.get());
  client.Reset(-1);
}

void WaitFor(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

bool PauseFor(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

void WaitUntilClosed(uint16_t port) {
  while (HasOpen(port)) std::this_thread::yield();
}

void WaitUntilRead(uint16_t port, const std::stop_token& stop) {
  while (!stop.stop_requested() && Unread(port) > 0) std::this_thread::yield();
}

}  // namespace kepler::testing
