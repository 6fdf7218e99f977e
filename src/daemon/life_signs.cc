#include "daemon/life_signs.h"

#include <string>

namespace kepler::daemon {

/// The service manager's queue is sometimes full (at boot, while it reloads its units). It ends a service that never
/// sends READY=1. It expects no WATCHDOG=1 before that.
void LifeSigns::Give(bool live) {
  if (!ready_)
    ready_ = Report("READY=1");
  else if (live && manager_.watchdog())
    static_cast<void>(Report("WATCHDOG=1"));
}

std::optional<Nanoseconds> LifeSigns::period() const {
  if (!ready_) return kRetryPeriod;
  if (!manager_.watchdog()) return std::nullopt;
  return *manager_.watchdog() / 4;
}

bool LifeSigns::Report(std::string_view state) {
  const auto said = manager_.Notify(state);
  if (said) return true;
  limiter_.Say(log::Level::kWarn, state, clock_.Now(), "failed to notify the service manager",
               {{"err", said.error().message}});
  return false;
}

}  // namespace kepler::daemon
