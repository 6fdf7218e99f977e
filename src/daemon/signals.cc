#include "daemon/signals.h"

#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <string_view>

namespace kepler::daemon {
namespace {

volatile sig_atomic_t g_asked = 0;  // SIGINT or SIGTERM that arrived while a Listening object existed
itimerval g_stop_time{};

sigset_t SetOf(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

/// Calls only functions that are allowed in a signal handler. The threads are not stopped.
[[noreturn]] void OnOverdue(int /*signal*/) {
  constexpr std::string_view kWords = "stopping takes too long; exiting without waiting for the remaining work\n";
  pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, 0) == 1) [[maybe_unused]]
    const ssize_t ignored = write(STDERR_FILENO, kWords.data(), kWords.size());
  _exit(EXIT_FAILURE);
}

/// Calls pthread_sigmask() with SIG_BLOCK or SIG_UNBLOCK.
void ChangeMask(int how, std::initializer_list<int> signals) {
  const sigset_t set = SetOf(signals);
  pthread_sigmask(how, &set, nullptr);
}

void StartTheClock() {
  struct sigaction action{};
  action.sa_handler = OnOverdue;
  sigaction(SIGALRM, &action, nullptr);
  setitimer(ITIMER_REAL, &g_stop_time, nullptr);
}

void OnAsked(int signal) {
  if (g_asked == 0) StartTheClock();
  g_asked = signal;
}

void Handle(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second signal ends the process
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

Signals::Signals(std::chrono::milliseconds stop_time) : set_(SetOf({SIGINT, SIGTERM, SIGHUP})) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(stop_time);
  g_stop_time.it_value = {.tv_sec = seconds.count(), .tv_usec = std::chrono::microseconds(stop_time - seconds).count()};
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  // The process may inherit a signal mask and a pending SIGALRM, which ignoring discards.
  signal(SIGALRM, SIG_IGN);
  ChangeMask(SIG_UNBLOCK, {SIGALRM});
  signal(SIGPIPE, SIG_IGN);  // a closed reader is then an error of write()
}

std::optional<int> Signals::Wait(std::optional<std::chrono::nanoseconds> time) {
  while (g_asked == 0) {
    int signal = 0;
    if (!time) {
      if (sigwait(&set_, &signal) == 0) return signal;
      continue;
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*time);
    const timespec limit{.tv_sec = seconds.count(), .tv_nsec = (*time - seconds).count()};
    signal = sigtimedwait(&set_, nullptr, &limit);
    if (signal > 0) return signal;
    if (errno == EAGAIN) return std::nullopt;
  }
  return g_asked;
}

void Signals::BoundTheStop() {
  if (g_asked == 0) StartTheClock();
  Handle(SIG_DFL);
  ChangeMask(SIG_UNBLOCK, {SIGINT, SIGTERM});  // SIGHUP stays blocked: there is nothing to reload
}

void Signals::Release() {
  const timespec now{};
  while (sigtimedwait(&set_, nullptr, &now) > 0) {
  }
  Handle(SIG_DFL);
  ChangeMask(SIG_UNBLOCK, {SIGINT, SIGTERM});
}

Signals::Listening::Listening() {
  Handle(OnAsked);
  ChangeMask(SIG_UNBLOCK, {SIGINT, SIGTERM});
}

Signals::Listening::~Listening() {
  ChangeMask(SIG_BLOCK, {SIGINT, SIGTERM});
  Handle(SIG_DFL);
}

}  // namespace kepler::daemon
