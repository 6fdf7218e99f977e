#pragma once
// The log: lines of key=value (Go slog's text format, as upstream's) or JSON. Thread-safe. A line contains the failure,
// its object, the reason and the remedy. Repeating causes use LogLimiter. A thread that logs never waits: a blocked
// reader loses lines, and a later line reports their number.
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"

namespace kepler::log {

enum class Level : uint8_t { kDebug, kInfo, kWarn, kError, kOff };  // kOff: as a minimum, for no lines
enum class Format : uint8_t { kText, kJson };
enum class Stream : uint8_t { kStdout, kStderr };

struct Field {
  std::string_view key;
  std::string value;
};
using Fields = std::initializer_list<Field>;

/// Sets the format. Before the first call: info, text, stdout.
void Configure(Level level, Format format, Stream stream);
/// Starts the writer thread. Before the start, the logging thread writes as much as the descriptor accepts at once.
[[nodiscard]] Status StartWriter();
/// Waits until all lines are written; returns false on timeout. Call before the process exits.
bool Flush(std::chrono::milliseconds time);
/// Number of lines lost since startup, because the queue was full or a write failed.
[[nodiscard]] uint64_t LinesDropped();
void SetLevel(Level level);
[[nodiscard]] bool Enabled(Level level);

void Write(Level level, std::string_view message, std::span<const Field> fields, const std::source_location& where);
/// Writes text that is not a log line to the same descriptor, in order with the lines. `text` has no final newline.
void WriteText(std::string text);

inline void Debug(std::string_view m, Fields f = {}, const std::source_location& w = std::source_location::current()) {
  if (Enabled(Level::kDebug)) Write(Level::kDebug, m, f, w);
}
inline void Info(std::string_view m, Fields f = {}, const std::source_location& w = std::source_location::current()) {
  if (Enabled(Level::kInfo)) Write(Level::kInfo, m, f, w);
}
inline void Warn(std::string_view m, Fields f = {}, const std::source_location& w = std::source_location::current()) {
  if (Enabled(Level::kWarn)) Write(Level::kWarn, m, f, w);
}
inline void Error(std::string_view m, Fields f = {}, const std::source_location& w = std::source_location::current()) {
  if (Enabled(Level::kError)) Write(Level::kError, m, f, w);
}

/// Passes a cause at its first occurrence and then once per `period`, and counts suppressed lines. Stores at most 1,024
/// causes; beyond that the whole table is cleared. Not thread-safe: one per owner.
class LogLimiter {
 public:
  explicit LogLimiter(std::chrono::nanoseconds period = std::chrono::minutes(10)) : period_(period) {}
  struct Permit {
    bool pass = false;
    uint64_t suppressed = 0;  // since the last line that was passed
  };
  /// `must_pass`: the line is written even within the period, because a later line says the opposite.
  [[nodiscard]] Permit Ask(std::string_view cause, BootTime now, bool must_pass = false);
  /// Writes the line if its cause passes, with the number of suppressed lines after the fields.
  void Say(Level level, std::string_view cause, BootTime now, std::string_view message, Fields fields,
           const std::source_location& where = std::source_location::current());

 private:
  struct Entry {
    BootTime last;
    uint64_t suppressed = 0;
  };
  std::chrono::nanoseconds period_;
  std::unordered_map<std::string, Entry> causes_;
};

}  // namespace kepler::log
