#pragma once
// Bytes over a connected non-blocking socket, plain or TLS. Owns the TLS state, not the socket.
// On the I/O thread, which has SIGPIPE blocked (OpenSSL writes without MSG_NOSIGNAL).
#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace kepler::http {

enum class IoState : uint8_t {
  kDone,
  kWantRead,   // again when the socket is readable
  kWantWrite,  // again when the socket is writable
  kEnd,        // the peer has closed its side
  kFailed      // nothing more can be done with this connection
};

struct IoResult {
  IoState state = IoState::kFailed;
  size_t bytes = 0;  // with kDone
};

class Stream {
 public:
  /// `tls` null: plain. Otherwise the handshake comes first; `tls` must live until it has begun.
  Stream(int fd, SSL_CTX* tls);

  [[nodiscard]] bool tls() const { return tls_ != nullptr; }
  /// When the client has said something: who says nothing costs no TLS state, which is kilobytes.
  [[nodiscard]] IoState Handshake();
  [[nodiscard]] IoResult Read(std::span<char> into);
  /// Writes what it can of `first` and then `second`, in one system call or TLS record where possible.
  [[nodiscard]] IoResult Write(std::string_view first, std::string_view second);
  /// Says goodbye: close_notify, then FIN. Best effort; reading from the bare socket stays possible.
  void CloseWriting();

 private:
  struct FreeSsl {
    void operator()(SSL* ssl) const;
  };
  void MakeSsl();
  IoResult WriteTls(std::string_view first, std::string_view second);
  IoState Explain(int result);

  int fd_;
  SSL_CTX* tls_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  bool broken_ = false;  // OpenSSL forbids further calls after a fatal error
};

}  // namespace kepler::http
