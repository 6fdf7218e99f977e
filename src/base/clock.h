#pragma once
// Time is injected. Elapsed time is CLOCK_BOOTTIME (it runs on during suspend); wall time only ever becomes a
// timestamp.
#include <chrono>

namespace kepler {

/// A point on CLOCK_BOOTTIME.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

/// Thread-safe. The real one reads the kernel's clocks; testing/fake_clock.h has one that tests move.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual BootTime Now() const = 0;
  [[nodiscard]] virtual WallTime Wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] BootTime Now() const override;
  [[nodiscard]] WallTime Wall() const override;
};

/// What the calling thread has used of its processors.
[[nodiscard]] std::chrono::nanoseconds ThreadCpuTime();

}  // namespace kepler
