#include "base/clock.h"

#include <time.h>

namespace kepler {
namespace {

std::chrono::nanoseconds Read(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
}

}  // namespace

BootTime SystemClock::Now() const { return BootTime(Read(CLOCK_BOOTTIME)); }
WallTime SystemClock::Wall() const { return WallTime(Read(CLOCK_REALTIME)); }
std::chrono::nanoseconds ThreadCpuTime() { return Read(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace kepler
