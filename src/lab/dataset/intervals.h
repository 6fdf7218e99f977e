#pragma once
// The intervals of one scraped target and what its counters did in each. For extract.cc.
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lab/dataset/recorded.h"

namespace kepler::lab::dataset {

/// A cell that is not there.
inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// A series that a column is the sum of, or one of them.
struct Counter {
  const Series* series;  // sorted by time, each once
  size_t column;
  double scale;
  bool is_energy;
  bool comes_and_goes;
  bool is_gauge = false;
  bool may_rest = false;  // says nothing about when a row ends
  std::string part{};     // of the column: where two series of one part are there at once, it is counted twice
};

/// Times at which a row ends and the next one begins, and how long a row usually is. Empty where no energy ever moves.
struct Timing {
  std::vector<double> times{};
  double usual = 0;    // the median
  size_t column = 0;   // whose energy it is
  double fastest = 0;  // the usual interval of the energy that moves most often
};
[[nodiscard]] Timing TimesOf(std::span<const Counter> counters);

/// An energy that moves far less often than another, so that there would hardly be a row, or a spike in one.
struct RareEnergy {
  size_t column = 0;
  size_t moves = 0;
  size_t most = 0;  // moves of the energy that moves most often
};
[[nodiscard]] std::vector<RareEnergy> RareEnergiesOf(std::span<const Counter> counters);

/// What happened between times[i] and times[i + 1].
struct Interval {
  bool is_gap = false;
  bool has_reset = false;
};
struct Rates {
  std::vector<Interval> intervals{};
  std::vector<std::vector<double>>
      columns{};  // per second, by column and interval; kNothing where a counter is missing
};
/// `columns`: how many there are; `longest`: a longer interval is a gap.
[[nodiscard]] Rates RatesOf(std::span<const Counter> counters, size_t columns, std::span<const double> times,
                            double longest);

}  // namespace kepler::lab::dataset
