#include "base/thread.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace kepler {
namespace {

/// Blocks the asynchronous signals of this thread, which those it makes inherit, until the end of the scope.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

std::unexpected<Error> FailThread(std::string_view name, int err) {
  return Fail(ErrorKind::kUnavailable,
              fmt::format("start thread {}: {}; raise the limit of threads (TasksMax= of the unit, pids.max of the "
                          "cgroup, ulimit -u) or of memory",
                          name, std::generic_category().message(err)));
}

}  // namespace

Result<std::jthread> StartThread(std::string_view name, ThreadWork work) {
  const BlockedSignals blocked;
  try {
    return std::jthread([called = std::string(name), work = std::move(work)](const std::stop_token& stop) mutable {
      prctl(PR_SET_NAME, called.c_str());
      work(stop);
    });
  } catch (const std::system_error& error) {
    return FailThread(name, error.code().value());
  } catch (const std::bad_alloc&) {
    return FailThread(name, ENOMEM);
  }
}

}  // namespace kepler
