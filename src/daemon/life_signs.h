#pragma once
// LifeSigns: reports to the service manager that the program is ready, and later that it is alive. One thread.
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "os/service_manager.h"

namespace kepler::daemon {

class LifeSigns {
 public:
  /// Time until READY=1 is sent again, if the service manager did not accept it.
  static constexpr Nanoseconds kRetryPeriod = std::chrono::seconds(1);

  /// Both must outlive the object.
  LifeSigns(const os::ServiceManager& manager, const Clock& clock) : manager_(manager), clock_(clock) {}

  /// Sends the next report. Call when the program is ready, and after each period(). `live`: ticks run on time.
  void Give(bool live);
  /// Time until the next report; empty if no further report is needed.
  [[nodiscard]] std::optional<Nanoseconds> period() const;
  /// Sends "STOPPING=1". A failure is only logged.
  void Stopping() { static_cast<void>(Report("STOPPING=1")); }

 private:
  /// Returns true if the service manager accepted the report. A failure is logged.
  [[nodiscard]] bool Report(std::string_view state);

  const os::ServiceManager& manager_;
  const Clock& clock_;
  bool ready_ = false;  // READY=1 was accepted
  log::LogLimiter limiter_;
};

}  // namespace kepler::daemon
