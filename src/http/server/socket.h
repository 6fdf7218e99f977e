#pragma once
// A non-blocking TCP socket, plain or TLS, that says when it is ready. Hides Asio. On the I/O thread, which has SIGPIPE
// blocked (OpenSSL writes without MSG_NOSIGNAL); made and destroyed also while the loop does not run.
#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "http/server/event_loop.h"

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

class Socket {
 public:
  [[nodiscard]] static Result<Socket> Create(EventLoop& loop, UniqueFd fd);
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  ~Socket();  // closes

  [[nodiscard]] int fd() const;
  /// One shot; at most one wait per direction at a time. A task that still waits when the socket closes is destroyed
  /// without running.
  void WhenReadable(Task task);
  void WhenWritable(Task task);
  void Close();
  /// The kernel then drops what is unsent, and tells the peer by a reset.
  void ResetOnClose();

  /// When the client has said something: who says nothing costs no TLS state, which is kilobytes.
  [[nodiscard]] IoState Handshake(SSL_CTX* tls);
  [[nodiscard]] IoResult Read(std::span<char> into);
  /// Past TLS.
  [[nodiscard]] IoResult ReadBare(std::span<char> into);
  /// The first byte, bare, that has come and was not read.
  [[nodiscard]] std::optional<char> Peek();
  /// Writes what it can of all parts, in one system call or TLS record where possible.
  [[nodiscard]] IoResult Write(std::span<const std::string_view> parts);
  /// Says goodbye: close_notify, then FIN. Best effort; ReadBare() stays possible.
  void CloseWriting();

 private:
  struct Impl;
  explicit Socket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::http
