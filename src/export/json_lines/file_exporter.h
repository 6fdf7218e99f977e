#pragma once
// FileExporter: a thread that adds the lines of the latest snapshot to a file at every interval. A disk that hangs
// delays neither ticks nor scrapes, and at the end its thread is left behind.
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/thread.h"
#include "base/units.h"
#include "export/json_lines/lines.h"
#include "export/json_lines/rotating_file.h"
#include "export/series/reading.h"
#include "status/push_status.h"

namespace kepler::json_lines {

struct FileOptions {
  std::string path;
  RotationLimits limits;
  Nanoseconds interval = std::chrono::minutes(1);
  LineOptions lines;
};

class FileExporter {
 public:
  /// `read` is called by the thread, and not after Stop(). It may wait up to a second for a tick.
  FileExporter(FileOptions options, std::function<series::Reading()> read, std::shared_ptr<const Clock> clock);
  /// As Stop().
  ~FileExporter();
  FileExporter(const FileExporter&) = delete;
  FileExporter& operator=(const FileExporter&) = delete;

  [[nodiscard]] Status Start();
  void RequestStop() {
    if (thread_) thread_->RequestStop();
  }
  /// Writes the latest snapshot, and ends the thread. One that hangs on its disk is left behind at `deadline`.
  void Stop(std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::now() + kPatience);
  /// Ticks in the file are requests, lines are points. Thread-safe.
  [[nodiscard]] status::PushStatus status() const;
  /// Writes the latest snapshot, unless it was written. For the thread, and for tests without one.
  void WriteOnce();

 private:
  static constexpr std::chrono::seconds kPatience{3};
  struct State;
  static void Loop(const std::shared_ptr<State>& state, const std::stop_token& stop);
  static void WriteOnce(State& state);

  const std::shared_ptr<State> state_;  // shared with a thread that may be left behind
  std::optional<BlockingThread> thread_;
};

}  // namespace kepler::json_lines
