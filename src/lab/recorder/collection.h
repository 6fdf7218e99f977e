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
#include "lab/dataset/recording.h"
#include "lab/dataset/schedule.h"

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
  /// The error says how it has ended.
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
  dataset::Recording recording{};
  std::vector<dataset::Lasted> lasted{};
  size_t failed_scrapes = 0;
  size_t failed_phases = 0;
  bool was_stopped = false;
};

/// Seconds that the phases take, with their pauses.
[[nodiscard]] double LengthOf(std::span<const dataset::Phase> phases, const Pace& pace);

/// Judges the first page of the agent by `options` (what energy, and a feature), before any load starts. Then goes
/// through the phases; a load that cannot be started or ends early is told and left out from there. Sample times are
/// `wall` (Unix seconds of now) and what Now() has gone on since, or those of the agent's snapshots. A page whose
/// snapshot is from before the load was what it is to be does not count. An error where no rows could be made of the
/// first page, or a scrape fails while nothing was recorded.
[[nodiscard]] Result<Collected> Collect(std::span<const dataset::Phase> phases, const Pace& pace, double wall,
                                        const dataset::ExtractOptions& options, Bench& bench);

}  // namespace kepler::lab::recorder
