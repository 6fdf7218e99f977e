#pragma once
// Signals: waits for signals, and limits the time from a stop signal to the exit. The main thread creates the only
// object before it starts any other thread.
#include <signal.h>

#include <chrono>
#include <optional>

namespace kepler::daemon {

class Signals {
 public:
  /// Maximum time from a stop signal to the exit, even if a thread waits for a client, a meter, a disk or the log.
  static constexpr std::chrono::milliseconds kStopTime{8000};

  /// Blocks SIGINT, SIGTERM and SIGHUP in this thread and in later threads. Ignores SIGPIPE. Reserves SIGALRM for the
  /// stop time, regardless of the inherited signal mask.
  explicit Signals(std::chrono::milliseconds stop_time = kStopTime);

  /// Returns the next signal; empty if none arrives within `time`. An empty `time` waits forever.
  [[nodiscard]] std::optional<int> Wait(std::optional<std::chrono::nanoseconds> time);
  /// The process ends within the stop time, with exit code 1 if it has not by itself; at once on a second signal.
  static void BoundTheStop();

  /// From now on SIGINT and SIGTERM end the process at once. Drops pending signals, which were for earlier work.
  void Release();

  /// Create this object during long work of the main thread (startup, reload). The stop time then starts when the
  /// signal arrives, and the next Wait() returns that signal.
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
