#pragma once
// Runs a service: handles signals, starts the writer of the log, reports to the service manager, and exits in time.
#include <functional>
#include <memory>
#include <string>

#include "base/build_info.h"
#include "base/result.h"

namespace kepler::daemon {

/// The main thread calls all functions. The destructor stops the service.
class Service {
 public:
  virtual ~Service() = default;
  virtual void Reload() = 0;  // SIGHUP
  /// Returns false if the service makes no progress. The service manager then restarts it after its watchdog timeout.
  [[nodiscard]] virtual bool IsLive() const { return true; }
};

/// Returns the version and build details of this binary.
[[nodiscard]] BuildInfo ThisBuild();

/// Call first in main().
void PrepareProcess();

/// Starts `program`, runs it until SIGINT or SIGTERM, and stops it. Returns the exit code. `start` may take long: the
/// stop time counts from the signal. Call after the log is configured, and before any other thread is started.
[[nodiscard]] int Run(const std::string& program, const std::string& version,
                      const std::function<Result<std::unique_ptr<Service>>()>& start);

}  // namespace kepler::daemon
