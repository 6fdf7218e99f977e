#pragma once
// Samples of a Prometheus server in a range of time, sorted by scrape, and the sums of one scrape. Pure.
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "recording/recording.h"
#include "report/energy_line.h"
#include "report/energy_report.h"
#include "report/prometheus_series.h"
#include "report/workload_lives.h"

namespace kepler::report {

/// What the server scrapes: an agent.
struct ScrapeTarget {
  std::string node;
  recording::Labels labels;
  Milliseconds last{};  // sample
};

struct RangeSeries {
  EnergySeries series;
  size_t target = 0;    // index
  size_t zone = 0;      // index
  std::string key{};    // of the workload, without its state
  size_t workload = 0;  // the same for all series with this key
  const std::vector<recording::Sample>* samples = nullptr;
  WorkloadLives::Life* life = nullptr;  // for the reader of the range
};

struct RangePoint {
  size_t series = 0;  // index
  Energy energy;
};

struct PrometheusRange {
  std::vector<ScrapeTarget> targets;
  std::vector<RangeSeries> series;  // those of a workload follow each other, the ended ones first
  /// Points of each scrape, in the order of series. Key: the time and the index of the target.
  std::map<std::pair<Milliseconds, size_t>, std::vector<RangePoint>> scrapes;
};
/// The result refers to `samples`. kMalformed: a sample is not a number of joules, or node energy has no node_name.
[[nodiscard]] Result<PrometheusRange> ReadRange(By by, std::span<const std::string> zones,
                                                const recording::Recording& samples);

/// Energy of a node in one scrape, by zone.
struct ScrapeSums {
  explicit ScrapeSums(size_t zones) : total(zones), active(zones), idle(zones), unattributed(zones) {
    unlisted.fill(std::vector<Energy>(zones));
  }
  std::vector<Energy> total, active, idle, unattributed;
  std::array<std::vector<Energy>, kUnlistedReasons.size()> unlisted;
  std::optional<Energy> start{};  // of the agent: its Unix time in microseconds
  bool has_total = false, has_active = false, has_unlisted = false;
  /// Those that never fall while an agent runs, `total` first, as the server has them: nothing is made equal.
  std::vector<Energy> counters;
};
/// `points`: of one scrape in `range`. Doubles of more than 8.5e9 J are rounded; what that explains is made equal.
[[nodiscard]] ScrapeSums SumsOf(const PrometheusRange& range, std::span<const RangePoint> points, size_t zones);

}  // namespace kepler::report
