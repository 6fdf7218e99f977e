#pragma once
// The intervals of one scraped target, and the rates of its counters in each interval. For extract.cc.
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// An empty cell.
inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// A series that is added to a column.
struct Counter {
  const Series* series;  // sorted by time, each once
  size_t column;
  double scale;
  bool is_energy;
  bool comes_and_goes;
  bool is_gauge = false;
  bool may_rest = false;  // its changes do not end rows
  std::string part{};     // part of the column; two series of one part at the same time would count twice
};

/// Times at which a row ends and the next one begins, and the usual length of a row. Empty if no energy changes.
struct Timing {
  std::vector<double> times{};
  double usual = 0;    // the median
  size_t column = 0;   // the energy that sets the times
  double fastest = 0;  // the usual interval of the energy that changes the most often
};
[[nodiscard]] Timing TimesOf(std::span<const Counter> counters);

/// An energy that changes far less often than another one. It would leave few rows, or cause spikes.
struct RareEnergy {
  size_t column = 0;
  size_t moves = 0;
  size_t most = 0;  // number of changes of the energy that changes the most often
};
[[nodiscard]] std::vector<RareEnergy> RareEnergiesOf(std::span<const Counter> counters);

/// The interval between times[i] and times[i + 1].
struct Interval {
  bool is_gap = false;
  bool has_reset = false;
};
struct Rates {
  std::vector<Interval> intervals{};
  std::vector<std::vector<double>>
      columns{};  // per second, by column and interval; kNothing where a counter is missing
};
/// `columns`: number of columns. `longest`: an interval above it is a gap.
[[nodiscard]] Rates RatesOf(std::span<const Counter> counters, size_t columns, std::span<const double> times,
                            double longest);

}  // namespace kepler::lab::dataset
