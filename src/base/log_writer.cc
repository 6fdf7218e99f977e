#include "base/log_writer.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/thread.h"

namespace kepler::log {
namespace {

using std::chrono::milliseconds;

/// Maximum length of one wait for the reader. The thread then checks whether it must end.
constexpr milliseconds kPatience{100};

}  // namespace

LogWriter::~LogWriter() = default;

Status LogWriter::Start() {
  {
    const std::scoped_lock lock(mutex_);
    has_thread_ = true;
  }
  auto started = StartThread("log", [this](const std::stop_token& stop) { Work(stop); });
  if (started) {
    thread_ = *std::move(started);
    return {};
  }
  const std::scoped_lock lock(mutex_);
  has_thread_ = false;
  return std::unexpected(started.error());
}

void LogWriter::SetFd(int fd) {
  const std::scoped_lock lock(mutex_);
  fd_ = fd;
}

void LogWriter::Add(std::string text) {
  text.push_back('\n');
  const std::scoped_lock lock(mutex_);
  if (overflowed_ || lines_.size() >= kMaxLines || bytes_ + text.size() > kMaxBytes) {
    overflowed_ = true;
    ++dropped_;
    ++unreported_;
  } else {
    ReportDropped();  // reports lines that could not be written
    Push({std::move(text)});
  }
  if (has_thread_)
    queued_.notify_one();
  else
    WriteUntil(std::chrono::steady_clock::now());
}

bool LogWriter::Flush(milliseconds time) {
  std::unique_lock lock(mutex_);
  if (!has_thread_) return WriteUntil(std::chrono::steady_clock::now() + time);
  return drained_.wait_for(lock, time, [this] { return lines_.empty(); });
}

uint64_t LogWriter::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

void LogWriter::Work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (queued_.wait(lock, stop, [this] { return !lines_.empty(); }) && !stop.stop_requested()) {
    // The text stays in place while the mutex is unlocked: other threads only append.
    const std::string_view rest = Next();
    const int fd = fd_;
    lock.unlock();
    const Attempt attempt = WriteSome(fd, rest, kPatience);
    lock.lock();
    Settle(attempt);
  }
}

LogWriter::Attempt LogWriter::WriteSome(int fd, std::string_view text, milliseconds patience) {
  // O_NONBLOCK is not set, because it would affect every process that shares the pipe or the terminal.
  pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return {};
  // If poll() reports a pipe as writable, PIPE_BUF bytes do not block.
  const ssize_t n = write(fd, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
  if (n >= 0) return {Outcome::kWritten, static_cast<size_t>(n)};
  return {errno == EINTR || errno == EAGAIN ? Outcome::kNotTaken : Outcome::kFailed, 0};
}

void LogWriter::Push(Line line) {
  bytes_ += line.text.size();
  lines_.push_back(std::move(line));
}

void LogWriter::ReportDropped() {
  if (unreported_ == 0) return;
  const uint64_t count = std::exchange(unreported_, 0);
  Push({notice_(count) + '\n', count});
}

std::string_view LogWriter::Next() const {
  return cut_ ? std::string_view("\n") : std::string_view(lines_.front().text).substr(written_);
}

void LogWriter::Settle(const Attempt& attempt) {
  if (attempt.outcome == Outcome::kNotTaken) return;
  if (cut_ && attempt.bytes > 0) {
    cut_ = false;
    return;
  }
  const Line& line = lines_.front();
  written_ += attempt.bytes;
  if (attempt.outcome == Outcome::kFailed) {
    cut_ = cut_ || (written_ > 0 && line.text[written_ - 1] != '\n');
    if (line.reports == 0) ++dropped_;
    unreported_ += std::max<uint64_t>(line.reports, 1);
  } else if (written_ < line.text.size()) {
    return;
  }
  bytes_ -= line.text.size();
  written_ = 0;
  lines_.pop_front();
  if (overflowed_ && lines_.size() <= kMaxLines / 2 && bytes_ <= kMaxBytes / 2) {
    overflowed_ = false;
    ReportDropped();
  }
  if (lines_.empty()) drained_.notify_all();
}

bool LogWriter::WriteUntil(std::chrono::steady_clock::time_point deadline) {
  while (!lines_.empty()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    const Attempt attempt = WriteSome(fd_, Next(), std::clamp(left, milliseconds(0), kPatience));
    if (attempt.outcome == Outcome::kNotTaken && left <= milliseconds(0)) return false;
    Settle(attempt);
  }
  return true;
}

}  // namespace kepler::log
