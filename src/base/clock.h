#pragma once
// Injected clocks. Elapsed time is CLOCK_BOOTTIME, which continues during suspend. Wall time is used only for
// timestamps.
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

/// Thread-safe. The system clock reads the kernel's clocks. Tests use testing/fake_clock.h.
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

/// Returns the CPU time of the calling thread.
[[nodiscard]] std::chrono::nanoseconds ThreadCpuTime();

}  // namespace kepler
