#include "base/suspended_time.h"

#include <chrono>

#include "base/clock.h"

namespace kepler {

/// CLOCK_BOOTTIME advances while the machine is suspended. CLOCK_MONOTONIC, the steady clock of libstdc++, does not.
Nanoseconds SuspendedTime() {
  const Nanoseconds awake = std::chrono::steady_clock::now().time_since_epoch();
  return SystemClock().Now().time_since_epoch() - awake;
}

}  // namespace kepler
