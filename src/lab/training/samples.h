#pragma once
// What a trainer sees: rows of features and what the meter said. Plain values.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kepler::lab::training {

/// No machine draws a terawatt; the squares of more would leave the range of numbers.
inline constexpr double kMaxWatts = 1e12;

/// Row-major.
struct Matrix {
  size_t columns = 0;
  std::vector<double> values;
  [[nodiscard]] size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] std::span<const double> row(size_t i) const { return {values.data() + i * columns, columns}; }
};

/// Rows stand in the order of time: neighbours are alike.
struct Samples {
  Matrix features;
  std::vector<double> labels;    // watts, one a row
  std::vector<uint32_t> groups;  // which machine a row is of; none where all are one machine's
};

/// The rows of these indices, in their order.
[[nodiscard]] inline Samples Subset(const Samples& all, std::span<const size_t> rows) {
  Samples subset;
  subset.features.columns = all.features.columns;
  subset.features.values.reserve(rows.size() * all.features.columns);
  subset.labels.reserve(rows.size());
  for (const size_t i : rows) {
    const auto row = all.features.row(i);
    subset.features.values.insert(subset.features.values.end(), row.begin(), row.end());
    subset.labels.push_back(all.labels[i]);
    if (!all.groups.empty()) subset.groups.push_back(all.groups[i]);
  }
  return subset;
}

}  // namespace kepler::lab::training
