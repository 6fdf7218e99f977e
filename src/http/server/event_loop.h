#pragma once
// One thread's event loop: tasks and timers. Hides Asio.
#include <chrono>
#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace kepler::http {

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

}  // namespace kepler::http
