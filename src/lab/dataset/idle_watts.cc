#include "lab/dataset/idle_watts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kepler::lab::dataset {

double PercentileOf(std::vector<double> values, double percentile) {
  std::ranges::sort(values);
  const double place = percentile / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

std::optional<IdleWatts> FindIdleWatts(std::span<const double> load, std::span<const double> watts, double share,
                                       double percentile) {
  constexpr size_t kFewest = 20;
  std::vector<size_t> rows;
  for (size_t i = 0; i < load.size(); ++i)
    if (!std::isnan(load[i]) && !std::isnan(watts[i])) rows.push_back(i);
  if (rows.empty()) return std::nullopt;
  const auto [lowest, highest] = std::ranges::minmax(rows, {}, [&](size_t row) { return load[row]; });
  const double least_share = load[highest] > 0 ? std::max(load[lowest], 0.0) / load[highest] : 0;
  const auto wanted = static_cast<size_t>(std::ceil(share * static_cast<double>(rows.size())));
  const size_t count = std::min(std::max(wanted, kFewest), rows.size());
  std::ranges::sort(rows, {}, [&](size_t row) { return std::pair(load[row], row); });
  rows.resize(count);
  std::vector<double> least;
  least.reserve(count);
  for (const size_t row : rows) least.push_back(watts[row]);
  return IdleWatts{.watts = PercentileOf(std::move(least), percentile),
                   .rows = count,
                   .most_load = load[rows.back()],
                   .least_share = least_share};
}

}  // namespace kepler::lab::dataset
