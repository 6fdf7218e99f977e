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
#include "daemon/startup_memory.h"
#include "os/service_manager.h"

namespace kepler::daemon {
namespace {

using Start = std::function<Result<std::unique_ptr<Service>>()>;

/// Opens /dev/null for each closed standard descriptor. Otherwise the next opened file would get that number, and log
/// lines would be written into the file. The open mode makes each use fail, so that lost output is still an error.
void OpenStandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) == -1)  // open() returns the lowest free number, which is `fd`
      open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/// Allocates large blocks as separate mappings, which free() returns to the kernel. By default glibc raises the limit
/// when the first exposition is freed, and keeps up to twice its size (mallopt(3)): 16 MB at 10,000 processes.
void ReturnLargeBlocks() {
  constexpr int kLarge = 1024 * 1024;
  mallopt(M_MMAP_THRESHOLD, kLarge);
}

/// Returns the exit code. A blocked reader of the log has this long to continue.
int EndWith(int code) {
  constexpr std::chrono::seconds kLastWords{1};
  log::Flush(kLastWords);
  if (ThreadsLeftBehind() == 0) return code;
  // Flushes only these streams: a thread that was left behind may hold the lock of another stream forever.
  for (std::FILE* const stream : {stdout, stderr}) std::fflush(stream);
  _exit(code);
}

/// Converts exceptions of libraries, for lack of memory or descriptors, to startup errors.
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
  ReturnStartupMemory();
  log::Info("started", {{"version", version}, {"stop_with", "Ctrl+C or SIGTERM"}});
  ServeUntilAsked(signals, **service);
  service->reset();
  return EndWith(EXIT_SUCCESS);
}

}  // namespace kepler::daemon
