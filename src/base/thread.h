#pragma once
// Starts threads. Failure is an error, not an exception. A thread that hangs in the kernel does not block the exit.
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "base/result.h"

namespace kepler {

using ThreadWork = std::move_only_function<void(const std::stop_token&)>;

/// Runs `work` on a thread of that name (the kernel keeps 15 characters). Asynchronous signals are blocked, so the main
/// thread gets them, and a write to a closed connection is an error instead of SIGPIPE. The error contains the limits
/// that may be the cause.
[[nodiscard]] Result<std::jthread> StartThread(std::string_view name, ThreadWork work);

/// A thread whose work may block in a system call that cannot be cancelled. For example, a read of a file on a dead
/// server (NFS, FUSE) may last until the process exits. Owned by one thread.
class BlockingThread {
 public:
  /// Same as StartThread(). `work` must own or share everything that it uses.
  [[nodiscard]] static Result<BlockingThread> Start(std::string_view name, ThreadWork work);
  BlockingThread(BlockingThread&&) = default;
  BlockingThread& operator=(BlockingThread&&) = delete;
  ~BlockingThread() { EndBy(std::chrono::steady_clock::now()); }

  void RequestStop() { thread_.request_stop(); }
  /// Requests the stop and joins the thread if its work ends by `deadline`. Otherwise the thread is left behind.
  void EndBy(std::chrono::steady_clock::time_point deadline);
  [[nodiscard]] bool HasEnded() const;

 private:
  struct End;
  BlockingThread(std::jthread thread, std::shared_ptr<End> end) : thread_(std::move(thread)), end_(std::move(end)) {}

  std::jthread thread_;
  std::shared_ptr<End> end_;
};

/// Number of threads left behind whose work has not ended. If there are any, the process must end by _exit(): static
/// objects, which these threads may use, must not be destroyed before them.
[[nodiscard]] size_t ThreadsLeftBehind();

}  // namespace kepler
