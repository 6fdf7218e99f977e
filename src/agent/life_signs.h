#pragma once
// LifeSigns: what the service manager is told while the agent runs: once that it serves, then, while ticks come, that
// it lives. One thread.
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "os/service_manager.h"

namespace kepler::agent {

class LifeSigns {
 public:
  /// A manager that could not be told that the agent serves is told again after so long.
  static constexpr Nanoseconds kRetryPeriod = std::chrono::seconds(1);

  /// Both must outlive it.
  LifeSigns(const os::ServiceManager& manager, const Clock& clock) : manager_(manager), clock_(clock) {}

  /// Once the agent serves, and whenever period() is over; `live`: ticks come.
  void Give(bool live);
  /// When to give the next one, from now on; nothing where there is nothing more to say.
  [[nodiscard]] std::optional<Nanoseconds> period() const;
  /// "STOPPING=1"; a manager that is not told can do without.
  void Stopping() { static_cast<void>(Tell("STOPPING=1")); }

 private:
  /// Whether it was told; if not, that is in the log.
  [[nodiscard]] bool Tell(std::string_view state);

  const os::ServiceManager& manager_;
  const Clock& clock_;
  bool ready_ = false;  // which it was told
  log::LogLimiter limiter_;
};

}  // namespace kepler::agent
