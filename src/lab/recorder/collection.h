#pragma once
// Measures a machine under a sequence of loads. The interface Bench starts the loads and reads the agent.
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/dataset/extract.h"
#include "lab/dataset/schedule.h"
#include "recording/recording.h"

namespace kepler::lab::recorder {

/// The measured machine, its agent and a clock. Used by one thread.
class Bench {
 public:
  virtual ~Bench() = default;
  /// Returns seconds of a monotonic clock.
  [[nodiscard]] virtual double Now() = 0;
  /// Returns false if the program was asked to stop before `time`.
  [[nodiscard]] virtual bool WaitUntil(double time) = 0;
  /// Starts a load, which runs until StopLoad().
  [[nodiscard]] virtual Status StartLoad(const dataset::Phase& phase) = 0;
  /// Returns an error if the load has ended; the error says how.
  [[nodiscard]] virtual Status CheckLoad() = 0;
  virtual void StopLoad() = 0;
  /// Returns the agent's page of metrics.
  [[nodiscard]] virtual Result<std::string> Scrape() = 0;
  /// Prints a line for the user.
  virtual void Say(std::string_view text) = 0;
};

struct Pace {
  double duration = 20;  // of a load
  double idle = 60;      // of idle phases
  double pause = 5;      // between loads
  double interval = 3;   // between scrapes
};

struct Collected {
  recording::Recording recording{};
  std::vector<dataset::Lasted> lasted{};
  size_t failed_scrapes = 0;
  size_t failed_phases = 0;
  bool was_stopped = false;
};

/// Returns the duration of the phases with their pauses, in seconds.
[[nodiscard]] double LengthOf(std::span<const dataset::Phase> phases, const Pace& pace);

/// Checks with `options` that the agent's first page has energy and a feature, then runs the phases. `wall` is the Unix
/// time of the call.
/// - If a load cannot be started or ends early, the rest of its phase is skipped, and the user gets a line.
/// - The time of a sample is that of the agent's snapshot. If the page has none, it is `wall` plus the time since the
///   call, by Now().
/// - Pages with a snapshot from before the load was steady are ignored.
/// Errors: the first page gives no rows, or a scrape fails before anything was recorded.
[[nodiscard]] Result<Collected> Collect(std::span<const dataset::Phase> phases, const Pace& pace, double wall,
                                        const dataset::ExtractOptions& options, Bench& bench);

}  // namespace kepler::lab::recorder
