#pragma once
// LogWriter: writes lines to a descriptor from its own thread. A thread that logs never waits for a reader or a disk. A
// line without room in the queue is dropped and counted. When there is room again, a line reports the number of dropped
// lines.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace kepler::log {

class LogWriter {
 public:
  static constexpr size_t kMaxLines = 1024;
  static constexpr size_t kMaxBytes = size_t{1} << 20;
  /// Returns the line with the number of dropped lines, without its newline. Called with the mutex held, so it must not
  /// log.
  using DropNotice = std::function<std::string(uint64_t dropped)>;

  LogWriter(int fd, DropNotice notice) : fd_(fd), notice_(std::move(notice)) {}
  ~LogWriter();  // ends the thread without waiting for the reader

  /// Starts the thread. Before the start, the calling thread writes as much as the descriptor accepts at once.
  [[nodiscard]] Status Start();
  void SetFd(int fd);
  /// Any thread. `text` is never split. It may have several lines, and counts as one.
  void Add(std::string text);
  /// Waits until all lines are written; returns false on timeout.
  bool Flush(std::chrono::milliseconds time);
  /// Number of lines that had no room or could not be written.
  [[nodiscard]] uint64_t dropped() const;

 private:
  struct Line {
    std::string text;
    uint64_t reports = 0;  // number of dropped lines that this line reports; 0 for an ordinary line
  };
  enum class Outcome : uint8_t { kWritten, kNotTaken, kFailed };
  struct Attempt {
    Outcome outcome = Outcome::kNotTaken;
    size_t bytes = 0;
  };

  void Work(const std::stop_token& stop);
  static Attempt WriteSome(int fd, std::string_view text, std::chrono::milliseconds patience);
  // Call with mutex_ held:
  void Push(Line line);
  void ReportDropped();
  [[nodiscard]] std::string_view Next() const;  // text to write next; there must be a line
  void Settle(const Attempt& attempt);          // records the result of that write
  bool WriteUntil(std::chrono::steady_clock::time_point deadline);

  mutable std::mutex mutex_;  // guards all members below except the thread
  std::condition_variable_any queued_;
  std::condition_variable_any drained_;
  int fd_;
  const DropNotice notice_;
  bool has_thread_ = false;  // only the thread then removes lines
  std::deque<Line> lines_;   // the first line is being written
  size_t bytes_ = 0;         // of lines_
  size_t written_ = 0;       // bytes of the first line
  bool cut_ = false;         // the output ends within an abandoned line, which is ended before the next line
  bool overflowed_ = false;  // until half of the queue is free again, so that losses are reported once
  uint64_t dropped_ = 0;     // total
  uint64_t unreported_ = 0;  // part of dropped_ that is not reported yet
  std::jthread thread_;      // keep last: it uses everything above
};

}  // namespace kepler::log
