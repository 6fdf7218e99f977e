#include "dataset/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "dataset/csv.h"
#include "dataset/intervals.h"

namespace kepler::dataset {
namespace {

/// Who is scraped. A node may be scraped twice, or under another address after a restart.
struct Target {
  std::string node, job, instance;
  auto operator<=>(const Target&) const = default;
};

struct Found {
  Meaning meaning;
  const Series* series;
};

/// Of two samples at one time, which a counter cannot have, the lower one is first.
std::pair<double, double> InOrder(const Sample& sample) { return {sample.time, sample.value}; }

/// Of legacy energies, the better first.
int RankOf(std::string_view source) {
  constexpr std::string_view kBest[] = {"rapl-sysfs", "rapl-msr", "acpi", "hmc", "redfish"};
  const auto* const place = std::ranges::find(kBest, source);
  return static_cast<int>(place - std::begin(kBest));
}

class Extractor {
 public:
  Extractor(Recording& recording, const ExtractOptions& options) : recording_(recording), options_(options) {}

  Status Check() {
    ChooseNames();
    Sort();
    return CheckFound();
  }

  Result<Extraction> Run() {
    ChooseNames();
    out_.dropped.not_finite = recording_.not_finite;
    Tidy();
    TakeTimesOfSnapshots();
    Sort();
    KEPLER_CHECK_OK(CheckFound());
    ChooseSources();
    NameColumns();
    std::map<Target, std::vector<Row>> rows;
    for (const auto& [target, found] : targets_) rows[target] = RowsOf(target, found);
    Merge(std::move(rows));
    NoteMissing();
    if (out_.rows.empty()) return Fail(ErrorKind::kInvalid, fmt::format("no interval is left: {}", DescribeDropped()));
    return std::move(out_);
  }

 private:
  void ChooseNames() {
    out_.names = options_.names != MetricNames::kAuto
                     ? options_.names
                     : Detect([&](std::string_view metric) { return recording_.metrics.contains(metric); });
  }

  /// Puts the samples of each series in order, each time once.
  void Tidy() {
    size_t shuffled = 0;
    for (auto& [metric, all] : recording_.metrics)
      for (Series& series : all) {
        auto& samples = series.samples;
        if (!std::ranges::is_sorted(samples, {}, &Sample::time)) {
          ++shuffled;
          std::ranges::sort(samples, {}, InOrder);
        }
        const auto twice = std::ranges::unique(samples, {}, &Sample::time);
        out_.dropped.duplicates += twice.size();
        samples.erase(twice.begin(), twice.end());
      }
    if (shuffled > 0) Note(fmt::format("{} series were not in the order of time and are sorted", shuffled));
  }

  /// The times at which figures were taken, for those at which they were scraped. A page that is scraped twice has the
  /// same figures at the same time.
  void TakeTimesOfSnapshots() {
    const auto found = recording_.metrics.find(kSnapshotTime);
    if (found == recording_.metrics.end()) return;
    std::map<Target, std::vector<Sample>> clocks;  // of an agent and those that took over from it
    for (const Series& clock : found->second)
      std::ranges::copy(clock.samples, std::back_inserter(clocks[TargetOf(clock.labels)]));
    for (auto& [target, clock] : clocks) std::ranges::sort(clock, {}, InOrder);
    for (auto& [metric, all] : recording_.metrics)
      for (Series& series : all) {
        const auto clock = clocks.find(TargetOf(series.labels));
        if (metric == kSnapshotTime || clock == clocks.end()) continue;
        out_.dropped.duplicates += Retime(series.samples, clock->second);
      }
  }

  /// A sample without its time, or whose time does not fit, keeps its own. How many were of one page then.
  static size_t Retime(std::vector<Sample>& samples, const std::vector<Sample>& clock) {
    constexpr double kMostAge = 120;  // of a snapshot; more is another clock
    for (Sample& sample : samples) {
      const auto taken = std::ranges::lower_bound(clock, sample.time, {}, &Sample::time);
      if (taken != clock.end() && taken->time == sample.time && std::abs(sample.time - taken->value) < kMostAge)
        sample.time = taken->value;
    }
    std::ranges::sort(samples, {}, InOrder);
    const auto again = std::ranges::unique(samples, {}, &Sample::time);
    const size_t count = again.size();
    samples.erase(again.begin(), again.end());
    return count;
  }

  /// Series to the targets they are of.
  void Sort() {
    for (const auto& [metric, all] : recording_.metrics)
      for (const Series& series : all) {
        auto meaning = MeaningOf(out_.names, metric, series.labels);
        if (!meaning || series.samples.empty()) continue;
        const Target target = TargetOf(series.labels);
        seen_nodes_.insert(target.node);
        if (!options_.nodes.empty() && std::ranges::find(options_.nodes, target.node) == options_.nodes.end()) continue;
        if (meaning->is_energy && !TakesEnergy(*meaning, target)) continue;
        (meaning->is_energy ? has_energy_ : has_features_) = true;
        targets_[target].push_back({*std::move(meaning), &series});
      }
    for (const auto& [column, nodes] : estimates_)
      Note(fmt::format("{} of {} is an estimate, not a measurement, and is left out (--allow-estimates takes it)",
                       column, fmt::join(nodes, ", ")));
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

  static Target TargetOf(const Labels& labels) {
    std::string_view node = LabelOf(labels, "node_name");
    for (const std::string_view other : {"node", "instance"})
      if (node.empty()) node = LabelOf(labels, other);
    return {.node = std::string(node.empty() ? "unknown" : node),
            .job = std::string(LabelOf(labels, "job")),
            .instance = std::string(LabelOf(labels, "instance"))};
  }

  Status CheckFound() const {
    std::vector<std::string_view> known(seen_nodes_.begin(), seen_nodes_.end());
    for (const std::string& node : options_.nodes)
      if (!seen_nodes_.contains(node))
        return Fail(ErrorKind::kInvalid,
                    SanitizeUtf8(fmt::format("no node \"{}\"; there are: {}", node, fmt::join(known, ", ")), 1000));
    if (!has_energy_ && !estimates_.empty())
      return Fail(
          ErrorKind::kInvalid,
          "all energy is an estimate of a model, which teaches nothing about this machine; record a machine with a "
          "meter, or give --allow-estimates");
    if (!has_energy_)
      return Fail(ErrorKind::kInvalid,
                  options_.zones.empty() && options_.source.empty()
                      ? "no energy: none of kepler_node_cpu_joules_total, kepler_node_platform_joules_total, "
                        "kepler_node_package_joules_total is there"
                      : "no energy of the zones and the source that were asked for is there");
    if (!has_features_)
      return Fail(ErrorKind::kInvalid, out_.names == MetricNames::kLegacy
                                           ? "no features: no kepler_container_*_total is there"
                                           : "no features: none of kepler_node_cpu_seconds_total, "
                                             "kepler_node_softirqs_total, kepler_node_cpu_cycles_total is there");
    return {};
  }

  /// Several meters may say the same: one of them counts for each column of a target.
  void ChooseSources() {
    if (out_.names != MetricNames::kLegacy) return;
    for (auto& [target, found] : targets_) {
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
        if (!source.empty()) Note(fmt::format("{} of {} is that of {}", column, target.node, source));
    }
  }

  void NameColumns() {
    std::set<std::string> features, energies;
    for (const auto& [target, found] : targets_)
      for (const Found& one : found) (one.meaning.is_energy ? energies : features).insert(one.meaning.column);
    out_.columns.assign(features.begin(), features.end());
    first_energy_ = features.size();
    out_.columns.insert(out_.columns.end(), energies.begin(), energies.end());
  }

  /// By its labels, but for those that say who was scraped: they change where an agent is replaced.
  static std::string PartOf(const Labels& labels) {
    constexpr std::string_view kOfMeters[] = {"mode", "package", "path", "source", "type", "zone"};
    std::string part;
    for (const std::string_view name : kOfMeters) part += fmt::format("{:?}", LabelOf(labels, name));
    return part;
  }

  /// Those would set how long rows are, or have all of their energy in one.
  void LeaveOutRare(const Target& target, std::vector<Counter>& counters) {
    if (!options_.zones.empty()) return;
    for (const RareEnergy& rare : RareEnergiesOf(counters)) {
      Note(fmt::format("{} of {} moves {} times, another energy {} times: it is left out (--zones takes it)",
                       out_.columns[rare.column], target.node, rare.moves, rare.most));
      std::erase_if(counters, [&](const Counter& counter) { return counter.column == rare.column; });
    }
  }

  std::vector<Row> RowsOf(const Target& target, const std::vector<Found>& found) {
    std::vector<Counter> counters;
    counters.reserve(found.size());
    for (const Found& one : found)
      counters.push_back(
          {.series = one.series,
           .column = static_cast<size_t>(std::ranges::find(out_.columns, one.meaning.column) - out_.columns.begin()),
           .scale = one.meaning.scale,
           .is_energy = one.meaning.is_energy,
           .comes_and_goes = one.meaning.comes_and_goes,
           .part = PartOf(one.series->labels)});
    LeaveOutRare(target, counters);
    const Timing timing = TimesOf(counters);
    if (timing.times.size() < 2) {
      Note(fmt::format("no energy of {} ever moves: it has no rows", target.node));
      return {};
    }
    if (timing.usual > timing.fastest * 1.5)
      Note(
          fmt::format("rows of {} are {:.3g} s long, as {} moves that often; another energy every {:.3g} s (--zones "
                      "chooses)",
                      target.node, timing.usual, out_.columns[timing.column], timing.fastest));
    const Rates rates = RatesOf(counters, out_.columns.size(), timing.times, timing.usual * options_.max_gap);
    return Assemble(target, timing.times, rates);
  }

  std::vector<Row> Assemble(const Target& target, const std::vector<double>& times, const Rates& rates) {
    const std::vector<size_t> kept = ColumnsOf(target, rates);
    const auto is_energy = [this](size_t column) { return column >= first_energy_; };
    if (std::ranges::none_of(kept, is_energy) || std::ranges::all_of(kept, is_energy)) {
      Note(fmt::format("{} has no {}: it has no rows", target.node,
                       std::ranges::none_of(kept, is_energy) ? "energy" : "features"));
      return {};
    }
    std::vector<Row> rows;
    for (size_t k = 0; k < rates.intervals.size(); ++k) {
      const Interval& interval = rates.intervals[k];
      const bool is_whole =
          std::ranges::none_of(kept, [&](size_t column) { return std::isnan(rates.columns[column][k]); });
      if (interval.has_reset || interval.is_gap || !is_whole) {
        ++(interval.has_reset ? out_.dropped.resets : interval.is_gap ? out_.dropped.gaps : out_.dropped.incomplete);
        continue;
      }
      Row row{.begin = times[k], .end = times[k + 1], .values = std::vector<double>(out_.columns.size(), kNothing)};
      for (const size_t column : kept) row.values[column] = rates.columns[column][k];
      rows.push_back(std::move(row));
    }
    return rows;
  }

  /// Those that say something in at least half of the intervals: one that came late would cost all rows before it.
  std::vector<size_t> ColumnsOf(const Target& target, const Rates& rates) {
    std::vector<size_t> kept;
    const auto good = [&](size_t k) { return !rates.intervals[k].has_reset && !rates.intervals[k].is_gap; };
    for (size_t column = 0; column < out_.columns.size(); ++column) {
      size_t all = 0, there = 0;
      for (size_t k = 0; k < rates.intervals.size(); ++k) {
        if (!good(k)) continue;
        ++all;
        there += !std::isnan(rates.columns[column][k]);
      }
      if (there * 2 >= all && (there > 0 || all == 0))
        kept.push_back(column);
      else if (there > 0)
        Note(fmt::format("{} of {} is there in {} of {} intervals only and is left out", out_.columns[column],
                         target.node, there, all));
    }
    return kept;
  }

  /// Of targets that are one node, the one with more rows goes first; none counts a time twice.
  void Merge(std::map<Target, std::vector<Row>> all) {
    std::vector<std::pair<Target, std::vector<Row>>> sorted(std::make_move_iterator(all.begin()),
                                                            std::make_move_iterator(all.end()));
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
      return a.second.size() != b.second.size() ? a.second.size() > b.second.size() : a.first < b.first;
    });
    std::map<std::string, std::map<double, double>> taken;  // of a node, begin and end of its rows
    for (const auto& [target, rows] : sorted)
      if (!rows.empty()) taken[target.node];
    for (const auto& [node, unused] : taken) out_.nodes.push_back(node);
    for (auto& [target, rows] : sorted) {
      const size_t node = static_cast<size_t>(std::ranges::find(out_.nodes, target.node) - out_.nodes.begin());
      for (Row& row : rows) {
        if (!Take(taken[target.node], row)) {
          ++out_.dropped.overlaps;
          continue;
        }
        row.node = node;
        out_.rows.push_back(std::move(row));
      }
    }
    std::ranges::sort(out_.rows, {}, [](const Row& row) { return std::pair(row.end, row.node); });
  }

  /// False where a part of its time is taken.
  static bool Take(std::map<double, double>& taken, const Row& row) {
    const auto next = taken.lower_bound(row.begin);
    if (next != taken.end() && next->first < row.end) return false;
    if (next != taken.begin() && std::prev(next)->second > row.begin) return false;
    taken.emplace_hint(next, row.begin, row.end);
    return true;
  }

  /// Columns without a value go; who lacks others is told.
  void NoteMissing() {
    std::vector<std::vector<bool>> has(out_.nodes.size(), std::vector<bool>(out_.columns.size()));
    for (const Row& row : out_.rows)
      for (size_t i = 0; i < row.values.size(); ++i)
        if (!std::isnan(row.values[i])) has[row.node][i] = true;
    for (size_t i = out_.columns.size(); i-- > 0;)
      if (std::ranges::none_of(has, [i](const auto& of) { return of[i]; })) DropColumn(i, has);
    for (size_t node = 0; node < has.size(); ++node)
      for (size_t i = 0; i < out_.columns.size(); ++i)
        if (!has[node][i]) Note(fmt::format("{} has no {}: its cells are empty", out_.nodes[node], out_.columns[i]));
    if (out_.names != MetricNames::kKepler) return;
    for (const FeatureMetric& feature : FeatureMetrics())
      if (std::ranges::find(out_.columns, feature.column) == out_.columns.end())
        Note(fmt::format("no column {}: no {}", feature.column, feature.metric));
  }

  void DropColumn(size_t column, std::vector<std::vector<bool>>& has) {
    const auto at = static_cast<std::ptrdiff_t>(column);
    out_.columns.erase(out_.columns.begin() + at);
    for (auto& of : has) of.erase(of.begin() + at);
    for (Row& row : out_.rows) row.values.erase(row.values.begin() + at);
  }

  std::string DescribeDropped() const {
    const Dropped& dropped = out_.dropped;
    const std::string counts = fmt::format("{} with a counter that fell, {} too long, {} with a counter missing",
                                           dropped.resets, dropped.gaps, dropped.incomplete);
    return out_.notes.empty() ? counts : fmt::format("{}; {}", counts, fmt::join(out_.notes, "; "));
  }

  void Note(std::string_view text) { out_.notes.push_back(SanitizeUtf8(text, 1000)); }

  Recording& recording_;
  const ExtractOptions& options_;
  Extraction out_;
  std::map<Target, std::vector<Found>> targets_;
  std::set<std::string, std::less<>> seen_nodes_;
  std::map<std::string, std::set<std::string>> estimates_;  // columns, and of which nodes
  size_t first_energy_ = 0;                                 // of the columns
  bool has_energy_ = false;
  bool has_features_ = false;
};

}  // namespace

Result<Extraction> ExtractRows(Recording recording, const ExtractOptions& options) {
  return Extractor(recording, options).Run();
}

Status CheckSeries(Recording recording, const ExtractOptions& options) { return Extractor(recording, options).Check(); }

std::string WriteTable(const Extraction& extraction, std::span<const TextColumn> more) {
  std::string out = "timestamp,node";
  for (const TextColumn& column : more) out += ',' + CsvCell(column.name);
  for (const std::string& column : extraction.columns) out += ',' + CsvCell(column);
  out += '\n';
  auto to = std::back_inserter(out);
  for (size_t i = 0; i < extraction.rows.size(); ++i) {
    const Row& row = extraction.rows[i];
    fmt::format_to(to, "{},{}", row.end, CsvCell(extraction.nodes[row.node]));
    for (const TextColumn& column : more) out += ',' + CsvCell(column.cells[i]);
    for (const double value : row.values) {
      out += ',';
      if (!std::isnan(value)) fmt::format_to(to, "{}", value);
    }
    out += '\n';
  }
  return out;
}

}  // namespace kepler::dataset
