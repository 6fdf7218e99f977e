#include "export/api/power_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/text.h"
#include "export/api/snapshot_json.h"
#include "export/series/figure_text.h"

namespace kepler::api {
namespace {

Nanoseconds StepOf(Nanoseconds interval) {
  if (interval <= Nanoseconds::zero()) return PowerHistory::kStepOnDemand;
  return std::max<Nanoseconds>(interval, PowerHistory::kMinStep);
}

bool IsCpu(const status::Zone& zone) { return zone.domain == status::Domain::kCpu; }

}  // namespace

PowerHistory::PowerHistory(Nanoseconds interval)
    : step_(StepOf(interval)), capacity_(static_cast<size_t>(kSpan / step_) + 1) {}

bool PowerHistory::HasZonesOf(const snapshot::Snapshot& snapshot) const {
  size_t known = 0;
  for (size_t z = 0; z < snapshot.zones.size() && known < kMaxZones; ++z) {
    if (!IsCpu(snapshot.zones[z])) continue;
    if (known == zones_.size() || indices_[known] != z || zones_[known] != snapshot.zones[z].name) return false;
    ++known;
  }
  return known == zones_.size();
}

void PowerHistory::SetZones(const snapshot::Snapshot& snapshot) {
  zones_.clear();
  indices_.clear();
  for (size_t z = 0; z < snapshot.zones.size() && zones_.size() < kMaxZones; ++z) {
    if (!IsCpu(snapshot.zones[z])) continue;
    zones_.push_back(snapshot.zones[z].name);
    indices_.push_back(z);
  }
  sums_.assign(zones_.size(), {});
  times_.assign(capacity_, {});
  active_.assign(capacity_ * zones_.size(), 0);
  idle_.assign(capacity_ * zones_.size(), 0);
  next_ = count_ = 0;
  last_ = {};
}

void PowerHistory::Add(const snapshot::Snapshot& snapshot) {
  const std::scoped_lock lock(mutex_);
  if (times_.empty() || !HasZonesOf(snapshot)) SetZones(snapshot);
  for (size_t i = 0; i < zones_.size(); ++i) {
    const snapshot::NodeZone& node = snapshot.node[indices_[i]];
    if (!node.fresh) continue;
    const double seconds = std::max(ToSeconds(snapshot.interval), 1e-9);
    sums_[i].active += node.active_power.watts() * seconds;
    sums_[i].idle += node.idle_power.watts() * seconds;
    sums_[i].seconds += seconds;
  }
  // The time of a point is `time` of the snapshot's JSON, so that a client recognises a tick that it has already. A
  // tick that is slightly early is a point too.
  if (count_ == 0 || snapshot.begun - last_ >= step_ * 3 / 4) AddPoint(snapshot.begun);
}

void PowerHistory::AddPoint(BootTime at) {
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 0; i < zones_.size(); ++i) {
    const Sum sum = sums_[i];
    const bool is_known = sum.seconds > 0;
    active_[next_ * zones_.size() + i] = is_known ? static_cast<float>(sum.active / sum.seconds) : kUnknown;
    idle_[next_ * zones_.size() + i] = is_known ? static_cast<float>(sum.idle / sum.seconds) : kUnknown;
    sums_[i] = {};
  }
  times_[next_] = last_ = at;
  next_ = (next_ + 1) % capacity_;
  count_ = std::min(count_ + 1, capacity_);
}

PowerHistory::Points PowerHistory::Read(Nanoseconds span) const {
  const std::scoped_lock lock(mutex_);
  Points points{.step = step_, .zones = zones_};
  for (size_t i = 0; i < count_; ++i) {
    const size_t at = (next_ + capacity_ - count_ + i) % capacity_;
    if (last_ - times_[at] > span) continue;
    points.times.push_back(times_[at]);
    const auto begin = static_cast<std::ptrdiff_t>(at * zones_.size());
    const auto end = begin + static_cast<std::ptrdiff_t>(zones_.size());
    points.active.insert(points.active.end(), active_.begin() + begin, active_.begin() + end);
    points.idle.insert(points.idle.end(), idle_.begin() + begin, idle_.begin() + end);
  }
  return points;
}

std::string HistoryJson(const PowerHistory::Points& points, const snapshot::Snapshot& latest) {
  std::string out = fmt::format(R"({{"api":{},"step_seconds":{},"zones":[)", kVersion, ToSeconds(points.step));
  for (size_t i = 0; i < points.zones.size(); ++i) out += (i == 0 ? "" : ",") + QuoteJson(points.zones[i]);
  out += R"(],"points":[)";
  const auto list = [&](std::string_view key, const std::vector<float>& watts, size_t point) {
    out += fmt::format(R"(,"{}":[)", key);
    for (size_t i = 0; i < points.zones.size(); ++i) {
      const float value = watts[point * points.zones.size() + i];
      if (i > 0) out += ',';
      if (std::isnan(value))
        out += "null";
      else
        fmt::format_to(std::back_inserter(out), "{}", value);
    }
    out += ']';
  };
  for (size_t p = 0; p < points.times.size(); ++p) {
    fmt::format_to(std::back_inserter(out), R"({}{{"time":"{}")", p == 0 ? "" : ",",
                   series::TimeText(latest.WallOf(points.times[p])));
    list("active_watts", points.active, p);
    list("idle_watts", points.idle, p);
    out += '}';
  }
  out += "]}\n";
  return out;
}

}  // namespace kepler::api
