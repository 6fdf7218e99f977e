#pragma once
// Sends sd_notify(3) messages to the service manager without libsystemd: a datagram to the socket in the environment.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace kepler::os {

class ServiceManager {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. Without NOTIFY_SOCKET, Notify() does nothing.
  [[nodiscard]] static ServiceManager FromEnvironment();
  ServiceManager(std::string socket, std::optional<Nanoseconds> watchdog)
      : socket_(std::move(socket)), watchdog_(watchdog) {}

  /// Sends "READY=1", "WATCHDOG=1" or "STOPPING=1". Does not wait: a full socket is an error.
  [[nodiscard]] Status Notify(std::string_view state) const;
  /// Watchdog timeout: the manager restarts this process if no WATCHDOG=1 arrives in time. Empty if there is no
  /// watchdog.
  [[nodiscard]] std::optional<Nanoseconds> watchdog() const { return watchdog_; }

 private:
  std::string socket_;  // a path, or "@name" in the abstract namespace; "" if there is no socket
  std::optional<Nanoseconds> watchdog_;
};

}  // namespace kepler::os
