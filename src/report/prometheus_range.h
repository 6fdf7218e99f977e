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

/// An agent that the server scrapes.
struct ScrapeTarget {
  std::string node;
  recording::Labels labels;
  Milliseconds last{};  // time of its last sample
};

struct RangeSeries {
  EnergySeries series;
  size_t target = 0;    // index
  size_t zone = 0;      // index
  std::string key{};    // labels of the workload, without its state
  size_t workload = 0;  // number of the workload: all series with this key have the same number
  const std::vector<recording::Sample>* samples = nullptr;
  WorkloadLives::Life* life = nullptr;  // set by the reader of the range, not by ReadRange()
};

struct RangePoint {
  size_t series = 0;  // index
  Energy energy;
};

struct PrometheusRange {
  std::vector<ScrapeTarget> targets;
  std::vector<RangeSeries> series;  // grouped by workload; in a group, series of ended workloads come first
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
  bool adds_up = false;  // the parts are the active energy, and active and idle energy are the total
  /// Values of all counters of the scrape, `total` first, before any correction. They never fall while an agent runs.
  std::vector<Energy> counters;
};
/// Returns the sums of one scrape; `points` are its points in `range`. The server stores doubles, which are rounded to
/// more than a microjoule above 8.5e9 J. Two sums that must be equal are made equal if rounding explains the
/// difference.
[[nodiscard]] ScrapeSums SumsOf(const PrometheusRange& range, std::span<const RangePoint> points, size_t zones);

}  // namespace kepler::report
