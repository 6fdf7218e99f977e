#pragma once
// LifeSigns: what is reported to the service manager while a program runs: once that it serves, then, while ticks come,
// that it lives. One thread.
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "os/service_manager.h"

namespace kepler::daemon {

class LifeSigns {
 public:
  /// Where the report that the program serves was not taken, it is repeated after so long.
  static constexpr Nanoseconds kRetryPeriod = std::chrono::seconds(1);

  /// Both must outlive it.
  LifeSigns(const os::ServiceManager& manager, const Clock& clock) : manager_(manager), clock_(clock) {}

  /// Once the agent serves, and whenever period() is over; `live`: ticks come.
  void Give(bool live);
  /// When to give the next one, from now on; nothing where there is nothing more to say.
  [[nodiscard]] std::optional<Nanoseconds> period() const;
  /// "STOPPING=1"; a manager that does not hear it can do without.
  void Stopping() { static_cast<void>(Report("STOPPING=1")); }

 private:
  /// Whether it was taken; if not, that is in the log.
  [[nodiscard]] bool Report(std::string_view state);

  const os::ServiceManager& manager_;
  const Clock& clock_;
  bool ready_ = false;  // which was reported
  log::LogLimiter limiter_;
};

}  // namespace kepler::daemon
