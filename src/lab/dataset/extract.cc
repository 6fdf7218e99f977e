#include "lab/dataset/extract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "lab/dataset/intervals.h"
#include "lab/dataset/targets.h"

namespace kepler::lab::dataset {
namespace {

class Extractor {
 public:
  Extractor(Targets targets, const ExtractOptions& options)
      : options_(options),
        out_({.names = targets.names, .dropped = targets.dropped, .notes = std::move(targets.notes)}),
        targets_(std::move(targets.found)) {}

  Result<Extraction> Run() {
    NameColumns();
    std::map<Target, std::vector<Row>> rows;
    for (const auto& [target, found] : targets_) rows[target] = RowsOf(target, found);
    Merge(std::move(rows));
    NoteMissing();
    if (out_.rows.empty()) return Fail(ErrorKind::kInvalid, fmt::format("no usable interval: {}", DescribeDropped()));
    return std::move(out_);
  }

 private:
  void NameColumns() {
    std::set<std::string> features, energies;
    for (const auto& [target, found] : targets_)
      for (const Found& one : found) (one.meaning.is_energy ? energies : features).insert(one.meaning.column);
    out_.columns.assign(features.begin(), features.end());
    first_energy_ = features.size();
    out_.columns.insert(out_.columns.end(), energies.begin(), energies.end());
  }

  /// All labels except those of the scraped target, which change if an agent is replaced.
  static std::string PartOf(const Labels& labels) {
    constexpr std::string_view kOfMeters[] = {"mode", "package", "path", "source", "type", "zone"};
    std::string part;
    for (const std::string_view name : kOfMeters) part += fmt::format("{:?}", LabelOf(labels, name));
    return part;
  }

  /// Such energies would determine the length of all rows, or cause spikes.
  void LeaveOutRare(const Target& target, std::vector<Counter>& counters) {
    if (!options_.zones.empty()) return;
    for (const RareEnergy& rare : RareEnergiesOf(counters)) {
      Note(fmt::format("ignored {} of {}: it changes {} times, another energy {} times (--zones selects it)",
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
           .is_gauge = one.meaning.is_gauge,
           .may_rest = one.meaning.may_rest,
           .part = PartOf(one.series->labels)});
    LeaveOutRare(target, counters);
    const Timing timing = TimesOf(counters);
    if (timing.times.size() < 2) {
      Note(fmt::format("no energy of {} changes, so it has no rows", target.node));
      return {};
    }
    if (timing.usual > timing.fastest * 1.5)
      Note(
          fmt::format("rows of {} are {:.3g} s long, because {} changes that often; another energy changes every "
                      "{:.3g} s (--zones selects energies)",
                      target.node, timing.usual, out_.columns[timing.column], timing.fastest));
    const Rates rates = RatesOf(counters, out_.columns.size(), timing.times, timing.usual * options_.max_gap);
    return Assemble(target, timing.times, rates);
  }

  std::vector<Row> Assemble(const Target& target, const std::vector<double>& times, const Rates& rates) {
    const std::vector<size_t> kept = ColumnsOf(target, rates);
    const auto is_energy = [this](size_t column) { return column >= first_energy_; };
    if (std::ranges::none_of(kept, is_energy) || std::ranges::all_of(kept, is_energy)) {
      Note(fmt::format("{} has no {}, so it has no rows", target.node,
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

  /// Keeps columns with values in half of the intervals: a counter that appeared late would remove all rows before it.
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
        Note(fmt::format("ignored {} of {}: it exists in only {} of {} intervals", out_.columns[column], target.node,
                         there, all));
    }
    return kept;
  }

  /// Adds the rows of all targets. If several are one node, that with the most rows is first; no time counts twice.
  void Merge(std::map<Target, std::vector<Row>> all) {
    std::vector<std::pair<Target, std::vector<Row>>> sorted(std::make_move_iterator(all.begin()),
                                                            std::make_move_iterator(all.end()));
    std::ranges::sort(sorted, [](const auto& a, const auto& b) {
      return a.second.size() != b.second.size() ? a.second.size() > b.second.size() : a.first < b.first;
    });
    std::map<std::string, std::map<double, double>> taken;  // by node: begin and end of its rows
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

  /// Returns false if another row has a part of the row's time.
  static bool Take(std::map<double, double>& taken, const Row& row) {
    const auto next = taken.lower_bound(row.begin);
    if (next != taken.end() && next->first < row.end) return false;
    if (next != taken.begin() && std::prev(next)->second > row.begin) return false;
    taken.emplace_hint(next, row.begin, row.end);
    return true;
  }

  /// Removes columns without a value, and notes the nodes that lack others.
  void NoteMissing() {
    const std::set<std::string> recorded(out_.columns.begin(), out_.columns.end());
    std::vector<std::vector<bool>> has(out_.nodes.size(), std::vector<bool>(out_.columns.size()));
    for (const Row& row : out_.rows)
      for (size_t i = 0; i < row.values.size(); ++i)
        if (!std::isnan(row.values[i])) has[row.node][i] = true;
    for (size_t i = out_.columns.size(); i-- > 0;)
      if (std::ranges::none_of(has, [i](const auto& of) { return of[i]; })) DropColumn(i, has);
    for (size_t node = 0; node < has.size(); ++node)
      for (size_t i = 0; i < out_.columns.size(); ++i)
        if (!has[node][i]) Note(fmt::format("{} has no {}, so its cells are empty", out_.nodes[node], out_.columns[i]));
    if (out_.names != MetricNames::kKepler || (out_.rows.empty() && first_energy_ > 0)) return;
    for (const FeatureMetric& feature : FeatureMetrics())
      if (!recorded.contains(std::string(feature.column)))
        Note(fmt::format("no column {}: no {}", feature.column, feature.metric));
      else if (std::ranges::find(out_.columns, feature.column) == out_.columns.end())
        Note(fmt::format("no column {}: {} has no value in any row", feature.column, feature.metric));
  }

  void DropColumn(size_t column, std::vector<std::vector<bool>>& has) {
    const auto at = static_cast<std::ptrdiff_t>(column);
    out_.columns.erase(out_.columns.begin() + at);
    for (auto& of : has) of.erase(of.begin() + at);
    for (Row& row : out_.rows) row.values.erase(row.values.begin() + at);
  }

  std::string DescribeDropped() const {
    const Dropped& dropped = out_.dropped;
    const std::string counts = fmt::format("{} with a decreasing counter, {} too long, {} with a missing counter",
                                           dropped.resets, dropped.gaps, dropped.incomplete);
    return out_.notes.empty() ? counts : fmt::format("{}; {}", counts, fmt::join(out_.notes, "; "));
  }

  void Note(std::string_view text) { out_.notes.push_back(SanitizeUtf8(text, 1000)); }

  const ExtractOptions& options_;
  Extraction out_;
  const std::map<Target, std::vector<Found>> targets_;
  size_t first_energy_ = 0;  // of the columns
};

}  // namespace

Result<Extraction> ExtractRows(Recording recording, const ExtractOptions& options) {
  KEPLER_TRY(Targets targets, FindTargets(recording, options));
  return Extractor(std::move(targets), options).Run();
}

Status CheckSeries(Recording recording, const ExtractOptions& options) {
  const auto targets = FindTargets(recording, options);
  return targets ? Status() : std::unexpected(targets.error());
}

std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out += '"';
}

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

}  // namespace kepler::lab::dataset
