#include "export/stdout/printer.h"

#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/thread.h"

namespace kepler::console {
namespace {

constexpr std::chrono::milliseconds kPeriod{2000};  // upstream's

/// Waits until stdout is writable, the printer must stop, or the timeout expires. Returns true to stop.
bool StopRequested(int stop_fd, bool also_writable, int timeout_ms) {
  pollfd fds[2] = {{stop_fd, POLLIN, 0}, {STDOUT_FILENO, POLLOUT, 0}};
  while (poll(fds, also_writable ? 2 : 1, timeout_ms) < 0 && errno == EINTR) {
  }
  return fds[0].revents != 0;
}

}  // namespace

Printer::Printer(Fresh fresh, ReportOptions options, std::function<void()> on_end)
    : fresh_(std::move(fresh)), options_(options), on_end_(std::move(on_end)) {}

Printer::~Printer() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(stop_.get(), &one, sizeof one);
}

Status Printer::Start() {
  stop_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.valid()) return FailErrno("create", "eventfd of the stdout exporter");
  KEPLER_TRY(thread_, StartThread("stdout", [this](const std::stop_token& stop) { Loop(stop); }));
  return {};
}

void Printer::Loop(const std::stop_token& stop) {
  do {
    std::string report;
    if (const Latest latest = fresh_(); latest.snapshot) report = Report(*latest.snapshot, options_, latest.stale);
    switch (Print(report)) {
      case Outcome::kDone:
        break;
      case Outcome::kStopped:
        return;
      case Outcome::kFailed:
        log::Warn("the stdout exporter stopped", {{"err", std::generic_category().message(errno)}});
        on_end_();
        return;
    }
  } while (!stop.stop_requested() && !StopRequested(stop_.get(), false, static_cast<int>(kPeriod.count())));
}

Printer::Outcome Printer::Print(std::string_view text) {
  while (!text.empty()) {
    if (StopRequested(stop_.get(), true, -1)) return Outcome::kStopped;
    // If poll() reports a pipe as writable, PIPE_BUF bytes do not block.
    const ssize_t written = write(STDOUT_FILENO, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Outcome::kFailed;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return Outcome::kDone;
}

}  // namespace kepler::console
