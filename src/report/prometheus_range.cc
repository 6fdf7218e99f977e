#include "report/prometheus_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>

namespace kepler::report {
namespace {

constexpr size_t kUnnamedReason = 4;  // a gauge: it falls when pods get their names
/// Every whole number of microjoules below this many joules has a double of its own.
constexpr double kExactJoules = 8'589'934'592;  // 2^33
constexpr double kMaxSampleJoules = 1e12;
constexpr double kMaxSeconds = 7'258'118'400;  // the year 2200: its nanoseconds fit 64 bits

/// Also of the start of an agent, whose seconds become microseconds.
Result<Energy> EnergyOf(double joules) {
  if (!(joules >= 0 && joules <= kMaxSampleJoules))
    return Fail(ErrorKind::kMalformed, fmt::format("{} is not a number of joules", joules));
  const double whole = std::floor(joules);
  return Energy::Microjoules((static_cast<int64_t>(whole) * 1'000'000) + std::llround((joules - whole) * 1e6));
}

Status FindTargets(By by, const recording::Recording& samples, std::vector<ScrapeTarget>& targets) {
  for (const auto& [metric, all] : samples.metrics)
    for (const recording::Series& series : all) {
      const auto meaning = EnergySeriesOf(by, metric, series.labels);
      if (!meaning || meaning->kind != SeriesKind::kTotal) continue;
      if (meaning->node.empty())
        return Fail(ErrorKind::kMalformed, fmt::format("a series of {} has no label node_name", metric));
      recording::Labels labels = TargetOf(series.labels);
      const bool is_known = std::ranges::any_of(
          targets, [&](const ScrapeTarget& target) { return target.node == meaning->node && target.labels == labels; });
      if (!is_known) targets.push_back({.node = meaning->node, .labels = std::move(labels), .last = {}});
    }
  return {};
}

/// Returns the index of the target of a series; nothing if no target fits, or more than one.
std::optional<size_t> FindTarget(By by, const std::vector<ScrapeTarget>& targets, std::string_view node,
                                 const recording::Labels& labels) {
  std::vector<size_t> of_node, matching;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].node != node) continue;
    of_node.push_back(i);
    if (IsOfTarget(by, labels, targets[i].labels)) matching.push_back(i);
  }
  if (of_node.size() == 1) return of_node.front();
  return matching.size() == 1 ? std::optional(matching.front()) : std::nullopt;
}

/// By target and id of the machine: the latest metadata.
using VmInfos = std::map<std::pair<size_t, std::string>, std::pair<double, RangeSeries>>;

std::string IdOfVm(const EnergySeries& series) {
  const auto id = std::ranges::find(series.texts, "vm_id", &std::pair<std::string, std::string>::first);
  return id == series.texts.end() ? std::string() : id->second;
}

void AddVmInfo(RangeSeries found, VmInfos& infos) {
  if (found.samples->empty()) return;
  const double time = found.samples->back().time;
  auto& latest = infos[{found.target, IdOfVm(found.series)}];
  if (time >= latest.first) latest = {time, std::move(found)};
}

/// The metadata of a machine may change, and its counter goes on: they are texts, but no part of the key.
void TakeVmInfos(const VmInfos& infos, PrometheusRange& range) {
  for (RangeSeries& series : range.series) {
    const auto info = infos.find({series.target, IdOfVm(series.series)});
    if (series.series.kind != SeriesKind::kWorkload || info == infos.end()) continue;
    for (const auto& text : info->second.second.series.texts)
      if (text.first != "vm_id") series.series.texts.push_back(text);
  }
}

void FindSeries(By by, std::span<const std::string> zones, const recording::Recording& samples,
                PrometheusRange& range) {
  VmInfos infos;
  for (const auto& [metric, all] : samples.metrics)
    for (const recording::Series& series : all) {
      auto meaning = EnergySeriesOf(by, metric, series.labels);
      if (!meaning) continue;
      const bool is_info = meaning->kind == SeriesKind::kVmInfo;
      const bool has_zone = !is_info && meaning->kind != SeriesKind::kStart;
      const auto zone = std::ranges::find(zones, meaning->zone);
      const auto target = FindTarget(by, range.targets, meaning->node, series.labels);
      if ((zone == zones.end() && has_zone) || !target) continue;
      RangeSeries found{.series = *std::move(meaning),
                        .target = *target,
                        .zone = has_zone ? static_cast<size_t>(zone - zones.begin()) : 0,
                        .samples = &series.samples};
      for (const auto& [name, value] : found.series.texts)
        found.key.append(name).append(1, '=').append(value).append(1, '\0');
      if (by == By::kPod) AddPodNames(series.labels, range.targets[*target].labels, found.series);
      if (is_info)
        AddVmInfo(std::move(found), infos);
      else
        range.series.push_back(std::move(found));
    }
  TakeVmInfos(infos, range);
  std::ranges::sort(range.series, [](const RangeSeries& a, const RangeSeries& b) {
    return std::tie(a.target, a.series.kind, a.key, b.series.is_ended, a.zone) <
           std::tie(b.target, b.series.kind, b.key, a.series.is_ended, b.zone);
  });
  for (size_t i = 1; i < range.series.size(); ++i) {
    const RangeSeries& before = range.series[i - 1];
    RangeSeries& series = range.series[i];
    const auto what = [](const RangeSeries& of) { return std::tie(of.target, of.series.kind, of.key); };
    series.workload = before.workload + (what(before) == what(series) ? 0 : 1);
  }
}

/// Puts the samples of a series into their scrapes. Nearly all series have the samples of one scrape after the other.
Status AddPoints(size_t index, PrometheusRange& range) {
  const RangeSeries& series = range.series[index];
  Milliseconds& last = range.targets[series.target].last;
  auto scrape = range.scrapes.end();
  for (const recording::Sample& sample : *series.samples) {
    if (sample.time > kMaxSeconds || (series.series.kind == SeriesKind::kStart && sample.value > kMaxSeconds))
      return Fail(ErrorKind::kMalformed, fmt::format("{} or {} is not a time", sample.time, sample.value));
    KEPLER_TRY(const Energy energy, EnergyOf(sample.value));
    const Milliseconds time(std::chrono::milliseconds(std::llround(sample.time * 1e3)));
    const std::pair key(time, series.target);
    if (scrape != range.scrapes.end()) ++scrape;
    if (scrape == range.scrapes.end() || scrape->first != key) scrape = range.scrapes.try_emplace(key).first;
    scrape->second.push_back({.series = index, .energy = energy});
    last = std::max(last, time);
  }
  return {};
}

void AddPoint(const RangeSeries& series, Energy energy, ScrapeSums& sums) {
  switch (series.series.kind) {
    case SeriesKind::kTotal:
      sums.has_total = true;
      sums.total[series.zone] += energy;
      return;
    case SeriesKind::kActive:
      sums.has_active = true;
      sums.active[series.zone] += energy;
      return;
    case SeriesKind::kIdle:
      sums.idle[series.zone] += energy;
      return;
    case SeriesKind::kUnattributed:
      sums.unattributed[series.zone] += energy;
      return;
    case SeriesKind::kUnlisted: {
      sums.has_unlisted = true;
      const auto reason = std::ranges::find(kUnlistedReasons, series.series.reason);
      if (reason != kUnlistedReasons.end())
        sums.unlisted[static_cast<size_t>(reason - kUnlistedReasons.begin())][series.zone] += energy;
      return;
    }
    case SeriesKind::kStart:
      sums.start = energy;
      return;
    case SeriesKind::kWorkload:
    case SeriesKind::kVmInfo:
      return;
  }
}

/// `listed`: energy of all workloads.
bool AddsUp(const ScrapeSums& sums, const std::vector<Energy>& listed) {
  const auto all = [](const std::vector<Energy>& zones) {
    return std::accumulate(zones.begin(), zones.end(), Energy());
  };
  Energy parts = all(listed) + all(sums.unattributed);
  for (const std::vector<Energy>& unlisted : sums.unlisted) parts += all(unlisted);
  return sums.has_unlisted && parts == all(sums.active) && all(sums.active) + all(sums.idle) == all(sums.total);
}

std::vector<Energy> CountersOf(const ScrapeSums& sums) {
  std::vector<Energy> all = sums.total;
  for (const auto* const more : {&sums.active, &sums.idle, &sums.unattributed})
    all.insert(all.end(), more->begin(), more->end());
  for (size_t i = 0; i < kUnnamedReason; ++i) all.insert(all.end(), sums.unlisted[i].begin(), sums.unlisted[i].end());
  return all;
}

/// `listed`: energy of all workloads. `tolerance`: what rounding can explain.
void Reconcile(size_t zone, Energy listed, Energy tolerance, ScrapeSums& sums) {
  Energy missing = sums.active[zone] - listed - sums.unattributed[zone];
  for (const auto& unlisted : sums.unlisted) missing -= unlisted[zone];
  if (missing > tolerance || Energy() - missing > tolerance) return;
  (missing > Energy() ? sums.unattributed[zone] : sums.active[zone]) +=
      missing > Energy() ? missing : Energy() - missing;
  const Energy rounding = sums.active[zone] + sums.idle[zone] - sums.total[zone];
  if (rounding <= tolerance && Energy() - rounding <= tolerance) sums.total[zone] += rounding;
}

}  // namespace

Result<PrometheusRange> ReadRange(By by, std::span<const std::string> zones, const recording::Recording& samples) {
  PrometheusRange range;
  KEPLER_CHECK_OK(FindTargets(by, samples, range.targets));
  FindSeries(by, zones, samples, range);
  for (size_t i = 0; i < range.series.size(); ++i) KEPLER_CHECK_OK(AddPoints(i, range));
  return range;
}

ScrapeSums SumsOf(const PrometheusRange& range, std::span<const RangePoint> points, size_t zones) {
  ScrapeSums sums(zones);
  std::vector<Energy> listed(zones);
  for (const RangePoint& point : points) {
    const RangeSeries& series = range.series[point.series];
    AddPoint(series, point.energy, sums);
    if (series.series.kind == SeriesKind::kWorkload) listed[series.zone] += point.energy;
  }
  sums.counters = CountersOf(sums);
  for (size_t zone = 0; zone < zones; ++zone) {
    const double joules = sums.total[zone].ToJoules();
    if (joules < kExactJoules || !sums.has_active) continue;
    const double step = std::nextafter(joules, kMaxSampleJoules * 2) - joules;
    const double error = std::ceil(step * 1e6 * static_cast<double>(points.size()));
    Reconcile(zone, listed[zone], Energy::Microjoules(std::llround(error)), sums);
  }
  sums.adds_up = AddsUp(sums, listed);
  return sums;
}

}  // namespace kepler::report
