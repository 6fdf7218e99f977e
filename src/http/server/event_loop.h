#pragma once
// One thread's event loop: tasks, descriptors, timers. Hides Asio.
#include <chrono>
#include <functional>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"

namespace kepler::http {

using Task = std::move_only_function<void()>;

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();  // destroys what was posted and never ran
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Runs tasks on the calling thread until Stop().
  void Run();
  /// From any thread. Run() returns after the task in progress.
  void Stop();
  /// While nobody runs it: lets Run() begin again after a Stop().
  void Restart();
  /// From any thread. The task runs on the loop's thread, after those posted before it.
  void Post(Task task);

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Owns a non-blocking descriptor and says when it is ready. On the loop's thread only (creation and destruction
/// excepted while the loop does not run). A task still waiting when the watch closes is destroyed without running.
class FdWatch {
 public:
  [[nodiscard]] static Result<FdWatch> Create(EventLoop& loop, UniqueFd fd);
  FdWatch(FdWatch&&) noexcept;
  FdWatch& operator=(FdWatch&&) noexcept;
  ~FdWatch();

  [[nodiscard]] int fd() const;
  /// One shot. At most one wait per direction at a time.
  void WhenReadable(Task task);
  void WhenWritable(Task task);
  void Close();

 private:
  struct Impl;
  explicit FdWatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
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

}  // namespace kepler::http
