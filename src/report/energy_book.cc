#include "report/energy_book.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/parse_time.h"
#include "report/row_name.h"

namespace kepler::report {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kDeparted = 0;

std::optional<Milliseconds> TimeOf(const std::string& text) {
  const auto seconds = ParseTime(text);
  if (!seconds) return std::nullopt;
  return Milliseconds(std::chrono::milliseconds(std::llround(*seconds * 1e3)));
}

}  // namespace

Energy EnergyBook::Sum(const ZoneEnergies& energies) const {
  Energy sum;
  for (const std::string& zone : options_.zones) {
    const auto found =
        std::ranges::find(energies, zone, [](const auto& entry) { return std::string_view(entry.first); });
    if (found != energies.end()) sum += found->second;
  }
  return sum;
}

void EnergyBook::ChooseZone() {
  if (!options_.zones.empty()) return;
  const auto is_divided = [](const NodeZone& zone) { return zone.is_divided; };
  auto chosen = std::ranges::find_if(tick_.zones,
                                     [&](const NodeZone& zone) { return zone.is_divided && zone.name == "package"; });
  if (chosen == tick_.zones.end()) chosen = std::ranges::find_if(tick_.zones, is_divided);
  if (chosen == tick_.zones.end()) chosen = tick_.zones.begin();
  if (chosen != tick_.zones.end()) options_.zones.push_back(chosen->name);
}

void EnergyBook::Add(const EnergyLine& line) {
  if (line.node != tick_.node || line.time != tick_.time) {
    CloseTick();
    tick_ = {};
    tick_.node = line.node;
    tick_.state = &nodes_[line.node];
    tick_.time = line.time;
  }
  if (line.level != level_) kind_ = KindOf(level_ = line.level);
  if (kind_ == LineKind::kNode) return AddNode(line);
  ChooseZone();
  if (kind_ == LineKind::kSample) return AddSample(line);
  if (kind_ == LineKind::kUnattributed) tick_.unattributed = Sum(line.joules);
  if (kind_ != LineKind::kUnlisted) return;
  if (line.of != LevelOf(options_.by)) {
    other_levels_.insert(line.of);
    return;
  }
  has_level_ = true;
  const auto reason = std::ranges::find(kUnlistedReasons, line.reason);
  if (reason != kUnlistedReasons.end())
    tick_.unlisted[static_cast<size_t>(reason - kUnlistedReasons.begin())] = Sum(line.joules);
}

EnergyBook::LineKind EnergyBook::KindOf(std::string_view level) const {
  if (level == "node") return LineKind::kNode;
  if (level == LevelOf(options_.by)) return LineKind::kSample;
  if (level == "unattributed") return LineKind::kUnattributed;
  return level == "unlisted" ? LineKind::kUnlisted : LineKind::kOtherLevel;
}

void EnergyBook::AddNode(const EnergyLine& line) {
  known_zones_.insert(line.zone);
  if (const std::string_view origin = line.Text("origin"); !origin.empty() && origin != "measured"sv)
    unmeasured_[{line.zone, std::string(origin)}].insert(line.node);
  tick_.zones.push_back({.name = line.zone,
                         .start = line.start,
                         .total = line.joules.empty() ? Energy() : line.joules.front().second,
                         .active = line.active,
                         .idle = line.idle,
                         .is_divided = line.is_divided});
}

void EnergyBook::AddSample(const EnergyLine& line) {
  has_level_ = true;  // even if the rest of the tick is missing
  key_ = line.key.empty() ? line.start : line.key;
  for (const auto& [name, value] : line.texts) {
    if (!line.key.empty() || name == "state"sv) continue;  // a workload that ends goes on as the same series
    key_ += '\0';
    key_ += value;
  }
  const auto [series, is_new] = tick_.state->series.try_emplace(key_);
  if (is_new) series->second.row = RowOf(RowName(options_.by, line), RowId(options_.by, line));
  tick_.samples.push_back({.series = &series->second, .energy = Sum(line.joules)});
}

size_t EnergyBook::RowOf(std::string name, std::string_view id) {
  const bool has_name = id.empty() || name != id;
  const auto [row, is_new] = (has_name ? row_of_ : row_of_id_).try_emplace(name, report_.rows.size());
  if (is_new) report_.rows.push_back({.name = std::move(name), .amount = {}});
  if (has_name && !id.empty()) named_.try_emplace(std::string(id), row->second);
  return row->second;
}

bool EnergyBook::IsComplete() const {
  if (tick_.zones.empty() || !tick_.unattributed) return false;
  return options_.by == By::kNode ||
         std::ranges::all_of(tick_.unlisted, [](const auto& energy) { return energy.has_value(); });
}

/// Nothing if a zone is missing in this tick.
std::optional<EnergyBook::Totals> EnergyBook::TotalsOfTick(std::string& start) const {
  Totals totals;
  for (const std::string& name : options_.zones) {
    const auto zone = std::ranges::find(tick_.zones, name, &NodeZone::name);
    if (zone == tick_.zones.end()) return std::nullopt;
    start += zone->start + ' ';
    totals.total += zone->total;
    totals.active += zone->is_divided ? zone->active : zone->total;
    totals.idle += zone->idle;
  }
  totals.unattributed = *tick_.unattributed;
  for (size_t i = 0; i < kReasons; ++i) totals.unlisted[i] = tick_.unlisted[i].value_or(Energy());
  return totals;
}

/// Samples, unlisted and unattributed energy are the active energy, as in every tick of an agent, and no sum overflows.
bool EnergyBook::AddsUp(const Totals& totals) const {
  constexpr Energy kMax = Energy::Joules(2'000'000'000'000);
  if (totals.total > kMax || report_.total.energy > kMax) return false;
  if (options_.by == By::kNode || !is_divided_) return true;
  Energy left = totals.active - totals.unattributed;
  const auto take = [&](Energy energy) {
    if (energy > left) return false;
    left = left - energy;
    return true;
  };
  return std::ranges::all_of(totals.unlisted, take) &&
         std::ranges::all_of(tick_.samples, [&](const Sample& sample) { return take(sample.energy); }) &&
         left == Energy() && totals.active + totals.idle == totals.total;
}

void EnergyBook::CloseTick() {
  if (tick_.node.empty()) return;
  ChooseZone();
  std::string start;
  const auto totals = IsComplete() ? TotalsOfTick(start) : std::nullopt;
  if (!totals) {
    ++report_.incomplete;
    return;
  }
  for (const NodeZone& zone : tick_.zones)
    if (!zone.is_divided && std::ranges::find(options_.zones, zone.name) != options_.zones.end()) is_divided_ = false;
  Node& node = *tick_.state;
  if (!Remember(node.times)) {
    ++report_.repeated;
    return;
  }
  if (options_.to && tick_.time > *options_.to) return;
  if (IsForeign(node, start)) return;
  const bool is_new_run = start != node.start;
  if ((!is_new_run && totals->total < node.totals.total) || !AddsUp(*totals)) {
    ++report_.impossible;
    return;
  }
  const auto begun = BeginOfRun();
  const Milliseconds period = options_.from ? *options_.from : node.ticks > 0 ? node.times.front() : tick_.time;
  const bool is_from_zero = begun && *begun >= period;
  if (is_new_run) {
    if (node.ticks > 0 && begun && *begun > std::max(node.last, period))
      report_.downtimes.push_back({.node = tick_.node, .from = std::max(node.last, period), .to = *begun});
    StartRun(node, start);
    if (is_from_zero) node.since = *begun;
  }
  const bool is_before = options_.from && tick_.time <= *options_.from;
  Count(node, *totals, !is_before && (!is_new_run || is_from_zero));
}

/// Earliest time at which a chosen zone was 0.
std::optional<Milliseconds> EnergyBook::BeginOfRun() const {
  std::optional<Milliseconds> begin;
  for (const std::string& name : options_.zones) {
    const auto start = TimeOf(std::ranges::find(tick_.zones, name, &NodeZone::name)->start);
    if (!start) return std::nullopt;
    begin = std::min(begin.value_or(*start), *start);
  }
  return begin;
}

/// Returns true if the tick is not known yet. Nearly all ticks come in the order of time.
bool EnergyBook::Remember(std::vector<Milliseconds>& times) const {
  if (options_.is_sorted && times.size() > 1) {
    const bool is_new = times.back() < tick_.time;
    times.back() = std::max(times.back(), tick_.time);
    return is_new;
  }
  const auto at =
      times.empty() || times.back() < tick_.time ? times.end() : std::ranges::lower_bound(times, tick_.time);
  if (at != times.end() && *at == tick_.time) return false;
  times.insert(at, tick_.time);
  return true;
}

/// Returns true if the tick continues a run that ended: it is of another agent with the same node name. Sets is_shared
/// also if a run begins before the last tick of the run before, whose energy counts: files are read one by one.
bool EnergyBook::IsForeign(Node& node, const std::string& start) const {
  if (node.ticks == 0 || start == node.start) return false;
  const bool is_foreign = node.ended.contains(start);
  node.is_shared = node.is_shared || is_foreign || tick_.time < node.last;
  if (is_foreign) ++node.foreign;
  return is_foreign;
}

void EnergyBook::StartRun(Node& node, const std::string& start) {
  if (node.ticks > 0) node.ended.insert(node.start);
  node.start = start;
  node.run = tick_.time;
  node.totals = {};
  for (auto& [key, series] : node.series) series.energy = Energy();
}

void EnergyBook::Count(Node& node, const Totals& now, bool is_counted) {
  ++node.ticks;
  used_since_ = std::min(node.since, tick_.time);
  grams_per_kwh_ = options_.intensity.Mean(used_since_, tick_.time);
  if (is_counted) {
    if (report_.ticks == 0) report_.from = node.since, report_.to = tick_.time;
    report_.from = std::min(report_.from, node.since);
    report_.to = std::max(report_.to, tick_.time);
    ++report_.ticks;
    if (!node.is_counted) node.first = node.since;
    node.is_counted = true;
  }
  const Energy departed_with_line = CountSeries(node, is_counted);
  if (is_counted) {
    Put(now.total - node.totals.total, report_.total);
    if (options_.by != By::kNode) {
      for (size_t i = 0; i < kReasons; ++i) {
        Energy increase = now.unlisted[i] - node.totals.unlisted[i];
        if (i == kDeparted) increase = increase - departed_with_line;
        Put(increase, rest_[i]);
      }
      Put(now.unattributed - node.totals.unattributed, rest_[kReasons]);
      Put(now.idle - node.totals.idle, rest_[kReasons + 1]);
    }
  }
  FindGap(node);
  node.totals = now;
  node.last = node.since = tick_.time;
}

/// Returns the energy of the series that have ended since the previous tick, up to their last lines.
Energy EnergyBook::CountSeries(Node& node, bool is_counted) {
  if (options_.by == By::kNode) {
    Energy total;
    for (const std::string& name : options_.zones)
      total += std::ranges::find(tick_.zones, name, &NodeZone::name)->total;
    const auto [series, is_new] = node.series.try_emplace("node");
    if (is_new) series->second.row = RowOf(tick_.node, "");
    tick_.samples = {{.series = &series->second, .energy = total}};
  }
  Energy ended;
  for (const Sample& sample : tick_.samples) {
    Series& series = *sample.series;
    // A series that ended since the previous tick and came back begins at 0 again.
    if (sample.energy < series.energy) ended += std::exchange(series.energy, Energy());
    if (is_counted) Put(sample.energy - series.energy, report_.rows[series.row].amount);
    series.energy = sample.energy;
    series.tick = node.ticks;
  }
  std::erase_if(node.series, [&](const auto& entry) {
    const bool has_ended = entry.second.tick != node.ticks;
    if (has_ended) ended += entry.second.energy;
    return has_ended;
  });
  return ended;
}

}  // namespace kepler::report
