#pragma once
// One thread's event loop: tasks, timers and sockets. Hides Asio.
#include <openssl/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming): the name is of Boost
}

namespace kepler::http::server {

using Task = std::move_only_function<void()>;

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();  // destroys what was posted and never ran

  /// Runs tasks on the calling thread until Stop(); may be called again then.
  void Run();
  /// From any thread. Run() returns after the task in progress.
  void Stop();
  /// From any thread. The task runs on the loop's thread, after those posted before it.
  void Post(Task task);

  /// For what else waits on this loop.
  [[nodiscard]] boost::asio::io_context& context() { return *context_; }

 private:
  std::unique_ptr<boost::asio::io_context> context_;
};

/// One deadline. Starting it again or cancelling it guarantees that the earlier task will not run.
class Timer {
 public:
  explicit Timer(EventLoop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void Start(std::chrono::nanoseconds delay, Task task);
  void Cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with the wait in progress, which may outlive the timer
};

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

/// A non-blocking TCP socket, plain or TLS, that says when it is ready. On the I/O thread, which has SIGPIPE blocked
/// (OpenSSL writes without MSG_NOSIGNAL); made and destroyed also while the loop does not run.
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
  /// Runs `task` when the peer resets the connection, but not when it only ends its own side: it may still read.
  void WhenReset(Task task);
  void Close();
  /// The kernel then drops what is unsent, and tells the peer by a reset.
  void ResetOnClose();

  /// When the client has said something: who says nothing costs no TLS state, which is kilobytes.
  [[nodiscard]] IoState Handshake(SSL_CTX* tls);
  [[nodiscard]] IoResult Read(std::span<char> into);
  /// Subject (RFC 2253) of the client's certificate if a known authority has signed it; else "".
  [[nodiscard]] std::string CertificateSubject() const;
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

}  // namespace kepler::http::server
