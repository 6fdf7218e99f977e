#include "lab/dataset/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace kepler::lab::dataset {
namespace {

/// Sorts by time. Of two samples at the same time, which one counter cannot have, the smaller value is first.
std::pair<double, double> InOrder(const Sample& sample) { return {sample.time, sample.value}; }

/// Meters of legacy energies, the best first.
int RankOf(std::string_view source) {
  constexpr std::string_view kBest[] = {"rapl-sysfs", "rapl-msr", "acpi", "hmc", "redfish"};
  const auto* const place = std::ranges::find(kBest, source);
  return static_cast<int>(place - std::begin(kBest));
}

/// Puts the samples of each series in order, each time once. Returns the number of series that were not in order.
size_t SortSamples(Recording& recording, Dropped& dropped) {
  size_t shuffled = 0;
  for (auto& [metric, all] : recording.metrics)
    for (Series& series : all) {
      auto& samples = series.samples;
      if (!std::ranges::is_sorted(samples, {}, &Sample::time)) {
        ++shuffled;
        std::ranges::sort(samples, {}, InOrder);
      }
      const auto twice = std::ranges::unique(samples, {}, &Sample::time);
      dropped.duplicates += twice.size();
      samples.erase(twice.begin(), twice.end());
    }
  return shuffled;
}

/// Sets the time of each sample to that of its snapshot, if plausible. Returns the number of removed duplicates.
size_t Retime(std::vector<Sample>& samples, const std::vector<Sample>& clock) {
  constexpr double kMaxAge = 120;  // seconds, of a snapshot; a larger age is caused by a different clock
  for (Sample& sample : samples) {
    const auto taken = std::ranges::lower_bound(clock, sample.time, {}, &Sample::time);
    if (taken != clock.end() && taken->time == sample.time && std::abs(sample.time - taken->value) < kMaxAge)
      sample.time = taken->value;
  }
  std::ranges::sort(samples, {}, InOrder);
  const auto again = std::ranges::unique(samples, {}, &Sample::time);
  const size_t count = again.size();
  samples.erase(again.begin(), again.end());
  return count;
}

class Finder {
 public:
  Finder(Recording& recording, const ExtractOptions& options) : recording_(recording), options_(options) {}

  Result<Targets> Run() {
    ChooseNames();
    out_.dropped.not_finite = recording_.not_finite;
    OrderSamples(recording_, out_.dropped, out_.notes);
    Sort();
    KEPLER_CHECK_OK(CheckFound());
    ChooseSources();
    return std::move(out_);
  }

 private:
  void ChooseNames() {
    out_.names = options_.names != MetricNames::kAuto
                     ? options_.names
                     : Detect([&](std::string_view metric) { return recording_.metrics.contains(metric); });
  }

  void FindFakeMeters() {
    const auto infos = recording_.metrics.find(kEnergySource);
    if (infos == recording_.metrics.end()) return;
    for (const Series& info : infos->second)
      if (LabelOf(info.labels, "source") == kFakeMeter) fakes_.insert(ZoneOf(info.labels));
  }

  /// Assigns the series to their targets.
  void Sort() {
    FindFakeMeters();
    for (const auto& [metric, all] : recording_.metrics)
      for (const Series& series : all) {
        auto meaning = MeaningOf(out_.names, metric, series.labels);
        if (!meaning || series.samples.empty()) continue;
        const Target target = TargetOf(series.labels);
        seen_nodes_.insert(target.node);
        if (!options_.nodes.empty() && std::ranges::find(options_.nodes, target.node) == options_.nodes.end()) continue;
        if (meaning->is_energy && !TakesEnergy(*meaning, target)) continue;
        (meaning->is_energy ? has_energy_ : has_features_) = true;
        if (meaning->is_energy && fakes_.contains(ZoneOf(series.labels)))
          simulated_[meaning->column].insert(target.node);
        out_.found[target].push_back({*std::move(meaning), &series});
      }
    for (const auto& [column, nodes] : estimates_)
      Note(fmt::format("ignored {} of {}: it is an estimate, not a measurement (--allow-estimates accepts it)", column,
                       fmt::join(nodes, ", ")));
    for (const auto& [column, nodes] : simulated_)
      Note(fmt::format("{} of {} is simulated by the fake meter: do not use a model that is trained on it", column,
                       fmt::join(nodes, ", ")));
  }

  /// Target, zone and path. The energy of the platform has no zone in its labels.
  static std::tuple<Target, std::string, std::string> ZoneOf(const Labels& labels) {
    const std::string_view zone = LabelOf(labels, "zone");
    return {TargetOf(labels), std::string(zone.empty() ? "platform" : zone), std::string(LabelOf(labels, "path"))};
  }

  bool TakesEnergy(const Meaning& meaning, const Target& target) {
    const std::string zone = meaning.column.substr(0, meaning.column.rfind('_'));
    if (!options_.zones.empty() && std::ranges::find(options_.zones, zone) == options_.zones.end()) return false;
    if (!options_.source.empty() && meaning.source != options_.source) return false;
    if (meaning.is_estimate && !options_.allow_estimates) {
      estimates_[meaning.column].insert(target.node);
      return false;
    }
    return true;
  }

  Status CheckFound() const {
    std::vector<std::string_view> known(seen_nodes_.begin(), seen_nodes_.end());
    for (const std::string& node : options_.nodes)
      if (!seen_nodes_.contains(node))
        return Fail(ErrorKind::kInvalid,
                    SanitizeUtf8(fmt::format("no node \"{}\"; available: {}", node, fmt::join(known, ", ")), 1000));
    if (!has_energy_ && !estimates_.empty())
      return Fail(
          ErrorKind::kInvalid,
          "all energy is estimated by a model, so nothing can be learned about this machine; record a machine with a "
          "meter, or set --allow-estimates");
    if (!has_energy_)
      return Fail(ErrorKind::kInvalid,
                  options_.zones.empty() && options_.source.empty()
                      ? "no energy: kepler_node_cpu_joules_total, kepler_node_platform_joules_total and "
                        "kepler_node_package_joules_total are missing"
                      : "no energy of the selected zones and source");
    if (!has_features_)
      return Fail(ErrorKind::kInvalid, out_.names == MetricNames::kLegacy
                                           ? "no features: kepler_container_*_total are missing"
                                           : "no features: kepler_node_cpu_seconds_total, kepler_node_softirqs_total "
                                             "and kepler_node_cpu_cycles_total are missing");
    return {};
  }

  /// Several meters may measure the same energy: one of them counts for each column of a target.
  void ChooseSources() {
    if (out_.names != MetricNames::kLegacy) return;
    for (auto& [target, found] : out_.found) {
      std::map<std::string, std::string> best;
      for (const Found& one : found) {
        if (!one.meaning.is_energy) continue;
        const auto [place, is_new] = best.try_emplace(one.meaning.column, one.meaning.source);
        if (!is_new && RankOf(one.meaning.source) < RankOf(place->second)) place->second = one.meaning.source;
      }
      std::erase_if(found, [&](const Found& one) {
        return one.meaning.is_energy && best[one.meaning.column] != one.meaning.source;
      });
      for (const auto& [column, source] : best)
        if (!source.empty()) Note(fmt::format("using {} of {} from {}", column, target.node, source));
    }
  }

  void Note(std::string_view text) { out_.notes.push_back(SanitizeUtf8(text, 1000)); }

  Recording& recording_;
  const ExtractOptions& options_;
  Targets out_;
  std::set<std::string, std::less<>> seen_nodes_;
  std::map<std::string, std::set<std::string>> estimates_;  // nodes by column
  std::map<std::string, std::set<std::string>> simulated_;  // nodes by column
  std::set<std::tuple<Target, std::string, std::string>> fakes_;
  bool has_energy_ = false;
  bool has_features_ = false;
};

}  // namespace

Target TargetOf(const Labels& labels) {
  std::string_view node = LabelOf(labels, "node_name");
  for (const std::string_view other : {"node", "instance"})
    if (node.empty()) node = LabelOf(labels, other);
  return {.node = std::string(node.empty() ? "unknown" : node),
          .job = std::string(LabelOf(labels, "job")),
          .instance = std::string(LabelOf(labels, "instance"))};
}

void OrderSamples(Recording& recording, Dropped& dropped, std::vector<std::string>& notes) {
  if (const size_t shuffled = SortSamples(recording, dropped); shuffled > 0)
    notes.push_back(fmt::format("sorted {} series that were not in order of time", shuffled));
  std::map<Target, std::vector<Sample>> clocks;  // by target: of an agent and of its successors
  for (const Series& clock : recording.metrics[std::string(kSnapshotTime)])
    std::ranges::copy(clock.samples, std::back_inserter(clocks[TargetOf(clock.labels)]));
  recording.metrics.erase(std::string(kSnapshotTime));
  for (auto& [target, clock] : clocks) std::ranges::sort(clock, {}, InOrder);
  for (auto& [metric, all] : recording.metrics)
    for (Series& series : all)
      if (const auto clock = clocks.find(TargetOf(series.labels)); clock != clocks.end())
        dropped.duplicates += Retime(series.samples, clock->second);
}

Result<Targets> FindTargets(Recording& recording, const ExtractOptions& options) {
  return Finder(recording, options).Run();
}

}  // namespace kepler::lab::dataset
