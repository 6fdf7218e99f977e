#include "base/suspended_time.h"

#include <time.h>

namespace kepler {
namespace {

Nanoseconds ReadKernelClock(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
}

}  // namespace

/// CLOCK_BOOTTIME advances while the machine is suspended, CLOCK_MONOTONIC does not.
Nanoseconds SuspendedTime() {
  const Nanoseconds awake = ReadKernelClock(CLOCK_MONOTONIC);
  return ReadKernelClock(CLOCK_BOOTTIME) - awake;
}

}  // namespace kepler
