#pragma once
// The signals that a program is asked with, and the promise that it ends when it is asked to. One object, made by the
// main thread before any other thread.
#include <signal.h>

#include <chrono>
#include <optional>

namespace kepler::daemon {

class Signals {
 public:
  /// From the request to the end, whatever any thread waits for: a client, a meter, a disk, a reader of the log.
  static constexpr std::chrono::milliseconds kStopTime{8000};

  /// Blocks SIGINT, SIGTERM and SIGHUP, in the threads made from now on too; SIGPIPE is ignored,
  /// SIGALRM is kept for the stop time, whatever mask the process was started with.
  explicit Signals(std::chrono::milliseconds stop_time = kStopTime);

  /// The next one; nothing where none came within `time`, which nothing makes endless.
  [[nodiscard]] std::optional<int> Wait(std::optional<std::chrono::nanoseconds> time);
  /// The process ends within the stop time, with exit code 1 if it has not by itself; at once on a second signal.
  static void BoundTheStop();

  /// SIGINT and SIGTERM end the process at once from now on; those that wait to be taken are dropped: they asked for
  /// what is over.
  void Release();

  /// While it lives, the main thread does what may take long (start, reload): a request to stop counts from its arrival
  /// and is what Wait() then returns.
  class Listening {
   public:
    Listening();
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
  };

 private:
  sigset_t set_{};
};

}  // namespace kepler::daemon
