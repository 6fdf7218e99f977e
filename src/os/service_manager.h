#pragma once
// What sd_notify(3) says to the service manager, without libsystemd: a datagram to the socket that the environment
// names.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace kepler::os {

class ServiceManager {
 public:
  /// NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID of the environment; without the first, Notify() does nothing.
  [[nodiscard]] static ServiceManager FromEnvironment();
  ServiceManager(std::string socket, std::optional<Nanoseconds> watchdog)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  /// "READY=1", "WATCHDOG=1", "STOPPING=1". Does not wait: a manager that takes nothing is an error.
  [[nodiscard]] Status Notify(std::string_view state) const;
  /// The manager restarts this process when it hears no WATCHDOG=1 for so long; nothing where it does not watch.
  [[nodiscard]] std::optional<Nanoseconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_;  // a path, or "@name" in the abstract namespace; "" for none
  std::optional<Nanoseconds> watchdog_;
};

}  // namespace kepler::os
