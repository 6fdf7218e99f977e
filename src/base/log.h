#pragma once
// The log: lines of key=value (Go slog's text form, as upstream's) or JSON. Thread-safe. One line says what failed, on
// what, why, and what to do. Repeating causes go through LogLimiter. Who logs never waits: a reader that stands still
// loses lines, and hears how many.
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

enum class Level : uint8_t { kDebug, kInfo, kWarn, kError };
enum class Format : uint8_t { kText, kJson };
enum class Stream : uint8_t { kStdout, kStderr };

struct Field {
  std::string_view key;
  std::string value;
};
using Fields = std::initializer_list<Field>;

/// Until called: info, text, stdout.
void Configure(Level level, Format format, Stream stream);
/// From now on a thread of its own writes the log. Until then whoever logs writes as much as is taken at once.
[[nodiscard]] Status StartWriter();
/// Waits until what was logged is written; false when the time is over before. Before the process ends.
bool Flush(std::chrono::milliseconds time);
/// Lines that found no room in the queue or could not be written, since the start.
[[nodiscard]] uint64_t LinesDropped();
void SetLevel(Level level);
[[nodiscard]] bool Enabled(Level level);

void Write(Level level, std::string_view message, std::span<const Field> fields, const std::source_location& where);
/// Text that is no log line but goes where they go, in order with them. Without its last newline.
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

/// Lets a cause through at its first appearance and then once per `period`, and counts what it suppressed.
/// Holds at most 1,024 causes (the whole table is forgotten then). Not thread-safe: one per owner.
class LogLimiter {
 public:
  explicit LogLimiter(std::chrono::nanoseconds period = std::chrono::minutes(10)) : period_(period) {}
  struct Permit {
    bool pass = false;
    uint64_t suppressed = 0;  // since the last line that passed
  };
  [[nodiscard]] Permit Ask(std::string_view cause, BootTime now);
  /// Writes the line if its cause passes; behind its fields stands how many were suppressed.
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
