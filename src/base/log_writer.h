#pragma once
// LogWriter: lines to a descriptor, from a thread of its own. Who logs never waits for a reader or a disk: what has no
// room in the queue is dropped and counted, and as soon as there is room a line says how many were.
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
  /// The line that says how many were dropped, without its newline. Called with the writer locked: it must not log.
  using DropNotice = std::function<std::string(uint64_t dropped)>;

  LogWriter(int fd, DropNotice notice) : fd_(fd), notice_(std::move(notice)) {}
  ~LogWriter();  // ends the thread; does not wait for the reader

  /// Makes the thread. Until then whoever adds a line writes as much as is taken at once.
  [[nodiscard]] Status Start();
  void SetFd(int fd);
  /// Any thread. Keeps `text` whole, so it may be several lines; it counts as one.
  void Add(std::string text);
  /// Waits until everything is written; false when the time is over before.
  bool Flush(std::chrono::milliseconds time);
  /// Lines that found no room or could not be written.
  [[nodiscard]] uint64_t dropped() const;

 private:
  struct Line {
    std::string text;
    uint64_t reports = 0;  // the dropped lines that this one reports; 0 for an ordinary line
  };
  enum class Outcome : uint8_t { kWritten, kNotTaken, kFailed };
  struct Attempt {
    Outcome outcome = Outcome::kNotTaken;
    size_t bytes = 0;
  };

  void Work(const std::stop_token& stop);
  static Attempt WriteSome(int fd, std::string_view text, std::chrono::milliseconds patience);
  // With mutex_ held:
  void Push(Line line);
  void ReportDropped();
  [[nodiscard]] std::string_view Next() const;  // to be written; there is a line
  void Settle(const Attempt& attempt);          // what became of that
  bool WriteUntil(std::chrono::steady_clock::time_point deadline);

  mutable std::mutex mutex_;  // guards all of the following but the thread
  std::condition_variable_any queued_;
  std::condition_variable_any drained_;
  int fd_;
  const DropNotice notice_;
  bool has_thread_ = false;  // then only that one takes lines out
  std::deque<Line> lines_;   // the first one is being written
  size_t bytes_ = 0;         // of lines_
  size_t written_ = 0;       // of the first one
  bool cut_ = false;         // what is written ends within a line that was given up: it is ended before the next one
  bool overflowed_ = false;  // until half of the queue is free again, so that the losses are reported once
  uint64_t dropped_ = 0;     // ever
  uint64_t unreported_ = 0;  // of these, not reported yet
  std::jthread thread_;      // keep last: it uses everything above
};

}  // namespace kepler::log
