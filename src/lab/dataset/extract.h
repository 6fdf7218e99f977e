#pragma once
// Counters to rates: rows of features per second and watts meanwhile, a row an interval. Pure.
//
// A row ends where the energy counter moves, and begins where it had moved before: a counter that is asked for more
// often than it is scraped repeats, and has no zeros and spikes between. Of several energies the one that moves least
// often says when. Counters of features are read at those times, between two samples on the line through them.
//
// Where the agent says when it took its figures (kepler_snapshot_timestamp_seconds), that is their time, not that of
// the scrape, which may be half a second later.
//
// What a row could not say truly is no row, and is counted: an interval in which any counter fell (a restart), one
// longer than `max_gap` usual ones, one for which a counter is missing. Nothing is negative.
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
  double max_gap = 3;                // in usual intervals, the median of a node's
  bool allow_estimates = false;      // take watts of models too
  std::vector<std::string> nodes{};  // empty: all
  std::vector<std::string> zones{};  // "package"; empty: all
  std::string source{};              // of legacy energies; empty: the best there is
};

/// Intervals that became no row, and samples that were not taken.
struct Dropped {
  size_t resets = 0;      // a counter fell
  size_t gaps = 0;        // longer than max_gap
  size_t incomplete = 0;  // a counter was missing
  size_t overlaps = 0;    // the same time of a node from another scrape of it
  size_t duplicates = 0;  // samples at a time that their series has already
  size_t not_finite = 0;  // samples that were NaN or infinite
};

struct Row {
  double begin = 0, end = 0;  // Unix seconds
  size_t node = 0;
  std::vector<double> values{};  // one a column; NaN: the node has no such
};

struct Extraction {
  MetricNames names = MetricNames::kAuto;
  std::vector<std::string> nodes{};
  std::vector<std::string> columns{};  // features in the order of their names, then energies
  std::vector<Row> rows{};             // by end, then node; at least one
  Dropped dropped{};
  std::vector<std::string> notes{};  // what is missing or was chosen, a line each
};

/// kInvalid where there is nothing to make rows of, and why: no energy, only estimates, no features, no interval left.
[[nodiscard]] Result<Extraction> ExtractRows(Recording recording, const ExtractOptions& options);

/// Whether rows can be made of such series at all, by what their labels say, however few samples they have: the errors
/// that ExtractRows() would have. Asked before a long recording.
[[nodiscard]] Status CheckSeries(Recording recording, const ExtractOptions& options);

/// `text` as a cell of CSV (RFC 4180): in quotes where it needs them.
[[nodiscard]] std::string CsvCell(std::string_view text);

/// A column of texts, a cell a row.
struct TextColumn {
  std::string name{};
  std::vector<std::string> cells{};
};

/// "timestamp,node,...": the end of each row as Unix seconds. NaN is an empty cell. `more` stand behind the node.
[[nodiscard]] std::string WriteTable(const Extraction& extraction, std::span<const TextColumn> more = {});

}  // namespace kepler::lab::dataset
