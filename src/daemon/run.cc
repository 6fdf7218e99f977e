#include "daemon/run.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "daemon/life_signs.h"
#include "daemon/signals.h"
#include "os/service_manager.h"

namespace kepler::daemon {
namespace {

using Start = std::function<Result<std::unique_ptr<Service>>()>;

/// A standard descriptor that is closed would go to the next thing that is opened, and log lines into that. It stays as
/// useless as it was: what is asked for and cannot be printed is an error.
void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) == -1)  // the lowest free number, which is this one
      open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/// Gives large blocks mappings of their own, so that a freed one goes back to the kernel. By itself glibc raises this
/// limit with the first exposition that is freed and keeps up to twice its size (mallopt(3)): 16 MB at 10,000
/// processes.
void ReturnLargeBlocks() {
  constexpr int kLarge = 1024 * 1024;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

/// Returns the exit code. A blocked reader of the log has this long to continue.
int EndWith(int code) {
  constexpr std::chrono::seconds kLastWords{1};
  log::Flush(kLastWords);
  if (ThreadsLeftBehind() == 0) return code;
  // Not all streams: a thread left behind may hold the lock of its own for ever.
  for (std::FILE* const stream : {stdout, stderr}) std::fflush(stream);
  _exit(code);
}

/// What libraries throw where memory or descriptors end is one more error of the start.
Result<std::unique_ptr<Service>> TryStart(const Start& start) try {
  const Signals::Listening listening;
  KEPLER_CHECK_OK(log::StartWriter());
  return start();
} catch (const std::bad_alloc&) {
  return Fail(ErrorKind::kUnavailable,
              "out of memory; raise the limit of this process (MemoryMax= of the unit, ulimit -v)");
} catch (const std::exception& error) {
  return Fail(ErrorKind::kUnavailable, error.what());
}

/// Returns the next signal. Meanwhile the service manager gets its notifications.
int WaitForSignal(Signals& signals, const Service& service, LifeSigns& life) {
  while (true) {
    if (const auto signal = signals.Wait(life.period())) return *signal;
    life.Give(service.IsLive());
  }
}

void ServeUntilAsked(Signals& signals, Service& service) {
  const os::ServiceManager manager = os::ServiceManager::FromEnvironment();
  const SystemClock clock;
  LifeSigns life(manager, clock);
  life.Give(service.IsLive());
  int signal = 0;
  while ((signal = WaitForSignal(signals, service, life)) == SIGHUP) {
    const Signals::Listening listening;
    service.Reload();
  }
  Signals::BoundTheStop();
  life.Stopping();
  log::Info("stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
}

}  // namespace

void PrepareProcess() {
  OpenStandardDescriptors();
  ReturnLargeBlocks();
}

int Run(const std::string& program, const std::string& version, const Start& start) {
  Signals signals;
  auto service = TryStart(start);
  if (!service) {
    log::Error(program + " cannot start", {{"err", service.error().message}});
    return EndWith(EXIT_FAILURE);
  }
  malloc_trim(0);  // what the start took: the types that BPF programs are loaded by are megabytes of small blocks
  log::Info("started", {{"version", version}, {"stop_with", "Ctrl+C or SIGTERM"}});
  ServeUntilAsked(signals, **service);
  service->reset();
  return EndWith(EXIT_SUCCESS);
}

}  // namespace kepler::daemon
