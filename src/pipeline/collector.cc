#include "pipeline/collector.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <system_error>

#include "base/thread.h"

namespace kepler::pipeline {
namespace {

bool SetTimer(int fd, std::optional<BootTime> deadline) {
  itimerspec spec{};
  if (deadline) {
    // All zeros would disarm the timer: a deadline in the past fires at once.
    const auto since = std::max(deadline->time_since_epoch(), Nanoseconds(1));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
    spec.it_value.tv_sec = seconds.count();
    spec.it_value.tv_nsec = (since - seconds).count();
  }
  return timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, nullptr) == 0;
}

/// Returns the error for the failed operation `did`, with errno.
std::unexpected<Error> Refused(std::string_view did) {
  const int err = errno;
  const bool no_descriptors = err == EMFILE || err == ENFILE;
  return Fail(KindOfErrno(err),
              fmt::format("{} of the collection thread: {}; {}", did, std::generic_category().message(err),
                          no_descriptors ? "raise the limit of open files: LimitNOFILE= of the unit, ulimit -n"
                                         : "check whether a seccomp filter forbids the call"));
}

void Drain(int fd) {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(fd, &count, sizeof count);
}

void Signal(int fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(fd, &one, sizeof one);
}

}  // namespace

Collector::Collector(NodeTick& tick, const snapshot::Board& board, const Clock& clock, Freshness freshness)
    : tick_(tick), board_(board), clock_(clock), freshness_(freshness) {}

Collector::~Collector() { Stop(); }

Status Collector::Start() {
  timer_.Reset(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_.valid()) return Refused("create the timer");
  if (!SetTimer(timer_.get(), std::nullopt)) return Refused("set the timer");
  wake_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_.valid()) return Refused("create the eventfd");
  baseline_begin_ = clock_.Now();
  RunTick(0);
  KEPLER_TRY(thread_, StartThread("collector", [this](const std::stop_token& stop) { Loop(stop); }));
  return {};
}

void Collector::Stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  Signal(wake_.get());
  thread_.join();
}

void Collector::Loop(const std::stop_token& stop) {
  const Nanoseconds interval = freshness_.interval;
  const Nanoseconds first =
      interval.count() > 0 ? std::min<Nanoseconds>(interval, kFirstInterval) : Nanoseconds(kFirstInterval);
  Schedule schedule(std::max(baseline_begin_ + first, LastTick() + std::min<Nanoseconds>(first, kBetweenDemands)),
                    interval);
  bool on_demand = false;  // the last tick was on demand
  while (Wait(stop, NextWake(schedule))) {
    const BootTime now = clock_.Now();
    const auto wake = NextWake(schedule);
    if (!wake || *wake > now) continue;
    const bool due = schedule.next() && *schedule.next() <= now;
    if (due) schedule.Advance(now);
    // A tick on demand also serves a deadline right after it: meters and /proc/stat have hardly changed since.
    if (due && on_demand && now - LastTick() < kBetweenDemands) continue;
    on_demand = !due;
    RunTick(schedule.TakeMissed());
  }
}

BootTime Collector::LastTick() const {
  const std::scoped_lock lock(mutex_);
  return last_tick_;
}

std::optional<BootTime> Collector::NextWake(const Schedule& schedule) const {
  const std::scoped_lock lock(mutex_);
  auto wake = schedule.next();
  if (wanted_since_) {
    const BootTime demand = std::max(*wanted_since_, last_tick_ + kBetweenDemands);
    wake = wake ? std::min(*wake, demand) : demand;
  }
  return wake;
}

bool Collector::Wait(const std::stop_token& stop, std::optional<BootTime> deadline) {
  static_cast<void>(SetTimer(timer_.get(), deadline));  // cannot fail: it was set at startup
  pollfd fds[3] = {{timer_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}, {tick_.wake_fd(), POLLIN, 0}};
  int timeout = -1;
  if (fds[2].fd >= 0 && last_drain_ && clock_.Now() - *last_drain_ < kBetweenDrains) {
    fds[2].fd = -1;  // poll() passes over it
    timeout = static_cast<int>(kBetweenDrains.count());
  }
  while (poll(fds, 3, timeout) < 0 && errno == EINTR) {
  }
  if (fds[0].revents != 0) Drain(timer_.get());
  if (fds[1].revents != 0) Drain(wake_.get());
  if (fds[2].revents != 0 && fds[0].revents == 0) {  // a tick drains by itself
    tick_.Drain();
    last_drain_ = clock_.Now();
  }
  return !stop.stop_requested();
}

void Collector::RunTick(uint64_t missed) {
  const BootTime begin = clock_.Now();
  tick_.Run(missed);
  const auto latest = board_.Latest();
  {
    const std::scoped_lock lock(mutex_);
    last_tick_ = clock_.Now();
    // A request after the start of this tick needs another tick, unless this tick answers it too.
    if (wanted_since_ && wanted_last_ > begin && !Answers(latest.get(), wanted_last_))
      wanted_since_ = wanted_last_;
    else
      wanted_since_.reset();
  }
  ticked_.notify_all();
  if (!observe_ || latest == nullptr || latest->sequence == observed_) return;
  observed_ = latest->sequence;
  observe_(*latest);
}

bool Collector::Answers(const snapshot::Snapshot* latest, BootTime asked) const {
  return latest != nullptr && (latest->taken_boot >= asked || freshness_.IsFresh(latest->taken_boot, clock_.Now()));
}

std::shared_ptr<const snapshot::Snapshot> Collector::Fresh() {
  const BootTime asked = clock_.Now();
  const auto good = [&] { return Answers(board_.Latest().get(), asked); };
  if (good()) return board_.Latest();
  std::unique_lock lock(mutex_);
  ticked_.wait_for(lock, kMaxWait, [&] {
    if (good()) return true;
    // Requested again each time: the snapshot of a tick that has just ended may already be too old.
    if (!wanted_since_) {
      wanted_since_ = asked;
      Signal(wake_.get());
    }
    wanted_last_ = std::max(wanted_last_, asked);
    return false;
  });
  return board_.Latest();
}

bool Collector::IsLive() const {
  const BootTime now = clock_.Now();
  const std::scoped_lock lock(mutex_);
  if (freshness_.interval.count() > 0) return !freshness_.IsOld(last_tick_, now);
  // Without an interval, only an unanswered request is a failure.
  return !wanted_since_ || now - *wanted_since_ <= std::max<Nanoseconds>(freshness_.staleness, 10 * kMaxWait);
}

}  // namespace kepler::pipeline
