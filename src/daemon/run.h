#pragma once
// What every program that serves does around its work: signals, the log's writer, the service manager, an end in time.
#include <functional>
#include <memory>
#include <string>

#include "base/build_info.h"
#include "base/result.h"

namespace kepler::daemon {

/// What runs. The main thread calls; to destroy it is the orderly stop.
class Service {
 public:
  virtual ~Service() = default;
  virtual void Reload() = 0;  // SIGHUP
  /// Whether it gets on with its work: where it does not for long, the service manager starts it anew.
  [[nodiscard]] virtual bool IsLive() const { return true; }
};

/// What this binary is, as the build recorded it.
[[nodiscard]] BuildInfo ThisBuild();

/// The first step of main().
void PrepareProcess();

/// Starts `program`, runs it until SIGINT or SIGTERM, and stops it. The exit code. `start` may take its time: a request
/// to stop ends it. Call once the log is configured and before any other thread is made.
[[nodiscard]] int Run(const std::string& program, const std::string& version,
                      const std::function<Result<std::unique_ptr<Service>>()>& start);

}  // namespace kepler::daemon
