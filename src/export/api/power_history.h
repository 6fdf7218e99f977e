#pragma once
// PowerHistory: active and idle watts of the CPU zones over the last hour, in memory. Points are at least a second
// apart; snapshots in between are averaged. Takes at most 3,601 points × (8 bytes + 8 bytes × 8 zones) = 260 kB, and
// 17 kB for two zones at the default interval.
// The collection thread adds, without allocation while the zones stay the same; any thread reads.
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "snapshot/snapshot.h"

namespace kepler::api {

class PowerHistory {
 public:
  static constexpr std::chrono::seconds kSpan{3600};
  static constexpr std::chrono::seconds kMinStep{1};
  static constexpr std::chrono::seconds kStepOnDemand{5};  // of an agent without an interval
  static constexpr size_t kMaxZones = 8;                   // further zones are left out

  explicit PowerHistory(Nanoseconds interval);
  void Add(const snapshot::Snapshot& snapshot);

  /// Points in order of time. Watts: points × zones; NaN if unknown.
  struct Points {
    Nanoseconds step{0};  // usual time between two points
    std::vector<std::string> zones{};
    std::vector<BootTime> times{};
    std::vector<float> active{};
    std::vector<float> idle{};
  };
  /// The points of the last `span` before the newest one.
  [[nodiscard]] Points Read(Nanoseconds span) const;

 private:
  struct Sum {
    double active = 0;  // joules
    double idle = 0;
    double seconds = 0;
  };
  [[nodiscard]] bool HasZonesOf(const snapshot::Snapshot& snapshot) const;
  void SetZones(const snapshot::Snapshot& snapshot);
  void AddPoint(BootTime at);

  const Nanoseconds step_;
  const size_t capacity_;
  mutable std::mutex mutex_;  // guards all below; held for microseconds
  std::vector<std::string> zones_;
  std::vector<size_t> indices_;  // of zones_ in the snapshot
  std::vector<Sum> sums_;        // per zone, since the newest point
  std::vector<BootTime> times_;  // a ring, as the next two
  std::vector<float> active_;
  std::vector<float> idle_;
  size_t next_ = 0;
  size_t count_ = 0;
  BootTime last_{};  // newest point
};

/// The JSON of /api/v1/history. `latest` converts the times.
[[nodiscard]] std::string HistoryJson(const PowerHistory::Points& points, const snapshot::Snapshot& latest);

}  // namespace kepler::api
