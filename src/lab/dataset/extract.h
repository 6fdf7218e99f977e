#pragma once
// Converts counters to rates. Each row has the features per second and the watts of one interval. Pure.
//
// A row begins and ends at changes of the energy counter. A query step below the scrape interval repeats values; rows
// that end at changes avoid zeros and spikes from them. If there are several energies, the one that changes the least
// often sets the rows. The counters of features are interpolated linearly at these times.
//
// If the agent exports the time of its figures (kepler_snapshot_timestamp_seconds), a sample has this time. The time of
// the scrape may be half a second later.
//
// Intervals that cannot give correct rates become no row and are counted: a counter decreased (a restart), the interval
// is longer than `max_gap` usual intervals, or a counter is missing. No value is negative.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/dataset/metrics.h"
#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

struct ExtractOptions {
  MetricNames names = MetricNames::kAuto;
  double max_gap = 3;                // in usual intervals: the median of the node's intervals
  bool allow_estimates = false;      // accept watts that a model estimates
  std::vector<std::string> nodes{};  // empty: all
  std::vector<std::string> zones{};  // "package"; empty: all
  std::string source{};              // meter of legacy energies; empty: the best available one
};

/// Number of intervals that became no row, and of samples that were not used.
struct Dropped {
  size_t resets = 0;      // a counter decreased
  size_t gaps = 0;        // longer than max_gap
  size_t incomplete = 0;  // a counter was missing
  size_t overlaps = 0;    // another target has rows of the same node and time
  size_t duplicates = 0;  // the series already has a sample of this time
  size_t not_finite = 0;  // samples that were NaN or infinite
};

struct Row {
  double begin = 0, end = 0;  // Unix seconds
  size_t node = 0;
  std::vector<double> values{};  // one per column; NaN: the node has no such counter
};

struct Extraction {
  MetricNames names = MetricNames::kAuto;
  std::vector<std::string> nodes{};
  std::vector<std::string> columns{};  // features in the order of their names, then energies
  std::vector<Row> rows{};             // by end, then node; at least one
  Dropped dropped{};
  std::vector<std::string> notes{};  // missing data and choices, one line each
};

/// kInvalid, with the reason, if no rows can be made: no energy, only estimates, no features, or no interval is left.
[[nodiscard]] Result<Extraction> ExtractRows(Recording recording, const ExtractOptions& options);

/// Checks by their labels whether rows can be made of these series. Returns the errors that ExtractRows() would return.
/// Call it with a few samples before a long recording.
[[nodiscard]] Status CheckSeries(Recording recording, const ExtractOptions& options);

/// Returns `text` as a cell of CSV (RFC 4180), in quotes if necessary.
[[nodiscard]] std::string CsvCell(std::string_view text);

/// A column of texts, one cell per row.
struct TextColumn {
  std::string name{};
  std::vector<std::string> cells{};
};

/// Returns CSV: "timestamp,node,...". The timestamp is the end of the row. NaN: an empty cell. `more` follow the node.
[[nodiscard]] std::string WriteTable(const Extraction& extraction, std::span<const TextColumn> more = {});

}  // namespace kepler::lab::dataset
