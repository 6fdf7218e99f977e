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
  ~EventLoop();  // destroys posted tasks that have not run

  /// Runs tasks on the calling thread until Stop(). May be called again after that.
  void Run();
  /// From any thread. Run() returns after the task in progress.
  void Stop();
  /// From any thread. The task runs on the loop's thread, after those posted before it.
  void Post(Task task);

  /// Context for sockets and timers that wait on this loop.
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
  kWantRead,   // repeat the call when the socket is readable
  kWantWrite,  // repeat the call when the socket is writable
  kEnd,        // the peer has closed its side
  kFailed      // nothing more can be done with this connection
};

struct IoResult {
  IoState state = IoState::kFailed;
  size_t bytes = 0;  // with kDone
};

/// A non-blocking TCP socket, plain or TLS, that calls a task when it is ready. On the I/O thread, which blocks SIGPIPE
/// (OpenSSL writes without MSG_NOSIGNAL). May be created and destroyed while the loop does not run.
class Socket {
 public:
  [[nodiscard]] static Result<Socket> Create(EventLoop& loop, UniqueFd fd);
  Socket(Socket&&) noexcept;
  Socket& operator=(Socket&&) noexcept;
  ~Socket();  // closes

  [[nodiscard]] int fd() const;
  /// Runs `task` once. At most one wait per direction at a time. If the socket closes, a waiting task is destroyed
  /// without running.
  void WhenReadable(Task task);
  void WhenWritable(Task task);
  /// Runs `task` when the peer resets the connection, but not when it only ends its own side: it may still read.
  void WhenReset(Task task);
  void Close();
  /// After this call, closing the socket drops unsent data and sends a reset to the peer.
  void ResetOnClose();

  /// Call it after the first bytes of the client have arrived. A silent client then costs no TLS state (kilobytes).
  [[nodiscard]] IoState Handshake(SSL_CTX* tls);
  [[nodiscard]] IoResult Read(std::span<char> into);
  /// Subject (RFC 2253) of the client's certificate if a known authority has signed it; else "".
  [[nodiscard]] std::string CertificateSubject() const;
  /// Reads from the socket without TLS.
  [[nodiscard]] IoResult ReadBare(std::span<char> into);
  /// Returns the first unread byte, without TLS; nothing if there is none.
  [[nodiscard]] std::optional<char> Peek();
  /// Writes as much of all parts as possible, in one system call or TLS record if it can.
  [[nodiscard]] IoResult Write(std::span<const std::string_view> parts);
  /// Sends close_notify, then FIN. Best effort; ReadBare() stays possible.
  void CloseWriting();

 private:
  struct Impl;
  explicit Socket(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kepler::http::server
