#include "base/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "base/log_writer.h"
#include "base/text.h"

namespace kepler::log {
namespace {

std::atomic<Level> g_level{Level::kInfo};
std::atomic<Format> g_format{Format::kText};

std::string_view Name(Level level) {
  constexpr std::array<std::string_view, 5> kNames = {"DEBUG", "INFO", "WARN", "ERROR", "OFF"};
  return kNames.at(std::to_underlying(level));
}

/// Returns the path from src/ on.
std::string_view ShortPath(std::string_view path) {
  const size_t at = path.rfind("/src/");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

bool NeedsQuotes(std::string_view value) {
  if (value.empty() || !IsValidUtf8(value)) return true;
  while (!value.empty()) {
    const auto [code, bytes] = FirstCharacter(value);
    if (IsControl(code) || code == ' ' || code == '"' || code == '=' || code == '\\') return true;
    value.remove_prefix(bytes);
  }
  return false;
}

/// File and cgroup names may contain any bytes. Bytes that are not UTF-8 would make the line unreadable to parsers.
std::string TextOf(std::string_view value) { return NeedsQuotes(value) ? QuoteJson(value) : std::string(value); }

std::string Timestamp() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

std::string TextLine(Level level, std::string_view message, std::span<const Field> fields,
                     const std::source_location& where) {
  std::string line = fmt::format("time={} level={} source={}:{} msg={}", Timestamp(), Name(level),
                                 ShortPath(where.file_name()), where.line(), TextOf(message));
  for (const Field& field : fields) line += fmt::format(" {}={}", field.key, TextOf(field.value));
  return line;
}

std::string JsonLine(Level level, std::string_view message, std::span<const Field> fields,
                     const std::source_location& where) {
  std::string line =
      fmt::format(R"({{"time":"{}","level":"{}","source":{{"file":"{}","line":{}}},"msg":{})", Timestamp(), Name(level),
                  ShortPath(where.file_name()), where.line(), QuoteJson(message));
  for (const Field& field : fields) line += fmt::format(",{}:{}", QuoteJson(field.key), QuoteJson(field.value));
  return line + '}';
}

std::string LineOf(Level level, std::string_view message, std::span<const Field> fields,
                   const std::source_location& where) {
  return g_format == Format::kText ? TextLine(level, message, fields, where) : JsonLine(level, message, fields, where);
}

std::string DropNotice(uint64_t dropped) {
  return LineOf(Level::kWarn, "log lines were dropped because the log could not be written, or not fast enough",
                Fields{{"lines", std::to_string(dropped)}}, std::source_location::current());
}

/// Never destroyed: the thread may be waiting for the reader when the process exits.
LogWriter& Writer() {
  static auto* const kWriter = new LogWriter(STDOUT_FILENO, DropNotice);
  return *kWriter;
}

}  // namespace

void Configure(Level level, Format format, Stream stream) {
  g_level = level;
  g_format = format;
  Writer().SetFd(stream == Stream::kStdout ? STDOUT_FILENO : STDERR_FILENO);
}

Status StartWriter() { return Writer().Start(); }

bool Flush(std::chrono::milliseconds time) { return Writer().Flush(time); }

uint64_t LinesDropped() { return Writer().dropped(); }

void SetLevel(Level level) { g_level = level; }

bool Enabled(Level level) { return level >= g_level.load(std::memory_order_relaxed); }

void Write(Level level, std::string_view message, std::span<const Field> fields, const std::source_location& where) {
  Writer().Add(LineOf(level, message, fields, where));
}

void WriteText(std::string text) { Writer().Add(std::move(text)); }

LogLimiter::Permit LogLimiter::Ask(std::string_view cause, BootTime now, bool must_pass) {
  constexpr size_t kMaxCauses = 1024;
  if (causes_.size() >= kMaxCauses) causes_.clear();
  const auto [it, fresh] = causes_.try_emplace(std::string(cause), Entry{now, 0});
  if (fresh) return {true, 0};
  if (!must_pass && now - it->second.last < period_) {
    ++it->second.suppressed;
    return {false, 0};
  }
  const Permit verdict{true, it->second.suppressed};
  it->second = {now, 0};
  return verdict;
}

void LogLimiter::Say(Level level, std::string_view cause, BootTime now, std::string_view message, Fields fields,
                     const std::source_location& where) {
  const Permit permit = Ask(cause, now);
  if (!permit.pass || !Enabled(level)) return;
  std::vector<Field> all(fields);
  all.push_back({"suppressed", std::to_string(permit.suppressed)});
  Write(level, message, all, where);
}

}  // namespace kepler::log
