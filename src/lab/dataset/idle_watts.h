#pragma once
// What a component takes without load, found among the rows of a table. Pure.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace kepler::lab::dataset {

/// What a component takes without load, and by which rows.
struct IdleWatts {
  double watts = 0;
  size_t rows = 0;         // that were looked at
  double most_load = 0;    // among these
  double least_share = 0;  // the least load as a share of the most of all rows; far from 0: it never was idle
};

/// The `percentile` (0 to 100) of watts among the `share` of rows with the least load, at least twenty of them if there
/// are as many. Not the smallest watts of all: one bad reading would be the idle power. Rows whose load or watts is NaN
/// do not count; nothing where no row is left.
[[nodiscard]] std::optional<IdleWatts> FindIdleWatts(std::span<const double> load, std::span<const double> watts,
                                                     double share, double percentile);

/// Between the values nearest to it, as most people define it; `values` are not empty.
[[nodiscard]] double PercentileOf(std::vector<double> values, double percentile);

}  // namespace kepler::lab::dataset
