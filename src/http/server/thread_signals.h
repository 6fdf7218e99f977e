#pragma once
// Threads that leave signals to others.
#include <csignal>
#include <thread>
#include <utility>

namespace kepler::http {

/// Starts `work(stop_token)` on a thread with the asynchronous signals blocked: they go to the program's own threads,
/// and a write to a closed connection is an error there instead of SIGPIPE.
template <class Work>
[[nodiscard]] std::jthread StartQuietThread(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::move(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace kepler::http
