#pragma once
// How a machine is measured under one load after the other. What it does to the machine is behind an interface.
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

/// The machine and its agent, and the time. One thread.
class Bench {
 public:
  virtual ~Bench() = default;
  /// Seconds of a clock that only goes on.
  [[nodiscard]] virtual double Now() = 0;
  /// False: asked to stop, before that time or while it waited.
  [[nodiscard]] virtual bool WaitUntil(double time) = 0;
  /// A load, which is there until StopLoad().
  [[nodiscard]] virtual Status StartLoad(const dataset::Phase& phase) = 0;
  /// The error says how the load ended.
  [[nodiscard]] virtual Status CheckLoad() = 0;
  virtual void StopLoad() = 0;
  /// The agent's page of metrics.
  [[nodiscard]] virtual Result<std::string> Scrape() = 0;
  /// For people, a line.
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

/// Seconds that the phases take, with their pauses.
[[nodiscard]] double LengthOf(std::span<const dataset::Phase> phases, const Pace& pace);

/// Checks by `options` that the first page of the agent has energy and a feature, before any load starts. Then runs the
/// phases. A load that cannot be started, or ends early, is logged and left out from there. `wall` is
/// the Unix time of the call. A sample's time is that of the agent's snapshot; without one, `wall` plus the time passed
/// by Now(). Pages whose snapshot is older
/// than the steady load are ignored. An error if the first page gives no rows, or if a scrape fails before anything was
/// recorded.
[[nodiscard]] Result<Collected> Collect(std::span<const dataset::Phase> phases, const Pace& pace, double wall,
                                        const dataset::ExtractOptions& options, Bench& bench);

}  // namespace kepler::lab::recorder
